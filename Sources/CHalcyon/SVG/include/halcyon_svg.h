// librsvg, drawing with Cairo.
#ifndef HALCYON_SVG_H
#define HALCYON_SVG_H

#include <halcyon_codecs.h>

/// Returns the document's own size in pixels, which may be zero, negative or not a number.
halcyon_codec_status halcyon_svg_size(const uint8_t *data, size_t size, double *width, double *height,
                                      halcyon_codec_call *call);

/// Draws the whole document, scaled to the whole bitmap.
halcyon_codec_status halcyon_svg_render(const uint8_t *data, size_t size, halcyon_codec_bitmap bitmap,
                                        halcyon_codec_call *call);

#endif
