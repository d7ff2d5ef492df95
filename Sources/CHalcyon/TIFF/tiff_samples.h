#ifndef HALCYON_TIFF_SAMPLES_H
#define HALCYON_TIFF_SAMPLES_H

#include <tiffio.h>

#include "../Codecs/codecs_internal.h"
#include "halcyon_tiff.h"

/// The channels of a page that libtiff unpacks and does not show.
typedef struct {
    uint32_t width, height;
    uint16_t bits, format, photometric, samples;
    bool is_planar;
    /// The channels of the colour, and those that are read: with alpha, which follows them.
    int colors, channels;
    bool is_straight;
} halcyon_tiff_samples;

/// Whether the page is grey, RGB or ink of a depth that `TIFFRGBAImage` refuses or takes for another one: more than 8 bits, and
/// neither 16-bit integers nor a kind with a reader of its own in libtiff. If all bits are wanted, whether it is grey or RGB of more than
/// 8 bits.
bool halcyon_tiff_has_samples(TIFF *tiff, bool has_alpha, bool wants_all_bits, halcyon_tiff_samples *samples);

/// Reads the page as premultiplied BGRA, or as RGBA of 16 bits a channel into the words of the layout.
///
/// - Parameter rows: receives the number of rows from the top that are there.
halcyon_codec_status halcyon_tiff_read_samples(TIFF *tiff, const halcyon_tiff_samples *samples,
                                               const halcyon_tiff_layout *layout, halcyon_codec_bitmap bitmap,
                                               halcyon_codec_call *call, uint32_t *rows);

#endif
