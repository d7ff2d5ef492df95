#include "halcyon_curl.h"
void halcyon_curl_placeholder(void) {}
