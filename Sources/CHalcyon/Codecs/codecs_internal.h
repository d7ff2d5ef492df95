#ifndef HALCYON_CODECS_INTERNAL_H
#define HALCYON_CODECS_INTERNAL_H

#include "halcyon_codecs.h"

/// The number of rows between two checks for cancellation.
#define HALCYON_ROWS_PER_QUESTION 64

static inline bool halcyon_is_cancelled(const halcyon_codec_call *call) {
    return call->cancelled != NULL && call->cancelled(call->context);
}

/// Returns x / 255, rounded to the nearest, exact for x up to 255 * 255.
static inline uint8_t halcyon_div255(uint32_t x) {
    x += 128;
    return (uint8_t)((x + (x >> 8)) >> 8);
}

void halcyon_set_message(halcyon_codec_call *call, const char *message);

/// Appends bytes to a buffer that grows by doubling. Returns false if the system has no memory, with `output`
/// unchanged.
bool halcyon_append(halcyon_codec_output *output, const uint8_t *bytes, size_t count);

/// Makes room for `count` more bytes.
bool halcyon_reserve(halcyon_codec_output *output, size_t count);

/// Reads a PNG without libpng. Returns damaged wherever libpng has to decide, after the first `rows` have been delivered, which
/// are the same as libpng's.
halcyon_codec_status halcyon_png_read_plain(const uint8_t *data, size_t size, halcyon_png_layout layout, uint8_t *pixels,
                                            halcyon_codec_rows sink, int *rows, halcyon_codec_call *call);

void halcyon_discard(halcyon_codec_output *output);

#endif
