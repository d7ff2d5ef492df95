#include "halcyon_codecs.h"

// A module for more formats defines its function. Where it is not linked, the function's address is NULL.
#define MODULE(name) extern void *halcyon_coder_##name(void) __attribute__((weak));
// The first is asked last: the loaders of the system, so that any other coder comes before them, and then SVG, since detecting
// text costs more than a signature.
#define MODULES                                                                                                        \
    MODULE(gdk_pixbuf)                                                                                                 \
    MODULE(svg) MODULE(tiff) MODULE(raw) MODULE(heic_encoder) MODULE(heic) MODULE(jpegxl) MODULE(avif)
MODULES
#undef MODULE

#define MODULE(name) halcyon_coder_##name,
static void *(*const makers[])(void) = {MODULES};

size_t halcyon_linked_coder_count(void) { return sizeof makers / sizeof makers[0]; }

void *halcyon_linked_coder(size_t index) {
    return makers[index] != NULL ? makers[index]() : NULL;
}
