// libtiff, called where its longjmp is harmless.
#ifndef HALCYON_TIFF_H
#define HALCYON_TIFF_H

#include <halcyon_codecs.h>
#include <halcyon_deep.h>

/// A page of a TIFF: the offset of its directory, the facts that the directory declares, and the largest allocation
/// that libtiff may make. If rows may be missing, those behind the first missing one are transparent, and one must be there.
typedef struct {
    uint64_t directory;
    bool has_palette, has_alpha, allows_missing;
    size_t most_bytes;
    halcyon_codec_ink ink;
    /// Memory for RGBA of 16 bits a channel, as the page has them: then nothing is written to the bitmap, whose pixels may be NULL. Only for
    /// grey and RGB of more than 8 bits.
    uint16_t *words;
    halcyon_channels channels;
} halcyon_tiff_layout;

/// Decodes a page, in its stored orientation; it must have the size of `bitmap`.
halcyon_codec_status halcyon_tiff_decode(const uint8_t *data, size_t size, halcyon_tiff_layout layout,
                                         halcyon_codec_bitmap bitmap, halcyon_codec_call *call);

#endif
