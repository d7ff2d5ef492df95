#include "halcyon_pixels.h"
void halcyon_pixels_placeholder(void) {}
