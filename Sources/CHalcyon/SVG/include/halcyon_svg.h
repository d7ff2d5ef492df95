// librsvg, drawing with Cairo.
#ifndef HALCYON_SVG_H
#define HALCYON_SVG_H

#include <halcyon_codecs.h>

/// A document that librsvg has read.
typedef struct halcyon_svg_document halcyon_svg_document;

/// Reads a document. The data is not needed afterwards.
halcyon_codec_status halcyon_svg_open(const uint8_t *data, size_t size, bool draws_text,
                                      halcyon_svg_document **document, halcyon_codec_call *call);

/// Returns the document's own size in pixels, which may be zero, negative or not a number.
void halcyon_svg_size(halcyon_svg_document *document, double *width, double *height);

/// Draws the whole document, scaled to the whole bitmap.
halcyon_codec_status halcyon_svg_draw(halcyon_svg_document *document, halcyon_codec_bitmap bitmap,
                                      halcyon_codec_call *call);

void halcyon_svg_close(halcyon_svg_document *document);

#endif
