#include "halcyon_codecs.h"
void halcyon_codecs_placeholder(void) {}
