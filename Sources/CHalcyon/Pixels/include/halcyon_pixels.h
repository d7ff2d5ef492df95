// Kernels over the canonical pixels: 8-bit BGRA, premultiplied.
#ifndef HALCYON_PIXELS_H
#define HALCYON_PIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    HALCYON_OK = 0,
    HALCYON_NO_MEMORY = 1,
    HALCYON_CANCELLED = 2,
} halcyon_status;

typedef enum {
    HALCYON_FILTER_NEAREST = 0,
    HALCYON_FILTER_AREA = 1,
    HALCYON_FILTER_BILINEAR = 2,
    HALCYON_FILTER_LANCZOS = 3,
} halcyon_filter;

/// Asked every few rows; true stops the work.
typedef bool (*halcyon_cancelled)(void *context);

/// A bitmap without padding.
typedef struct {
    uint8_t *pixels;
    int width;
    int height;
} halcyon_bitmap;

/// The part of a source that becomes the whole of a result, in source pixels.
typedef struct {
    double x, y, width, height;
} halcyon_region;

/// Scales `region` of `source`, which has an area and lies inside of it, to the size of `result`.
halcyon_status halcyon_resample(halcyon_bitmap source, halcyon_region region, halcyon_bitmap result,
                                halcyon_filter filter, halcyon_cancelled cancelled, void *context);

/// Writes `source` turned upright. `orientation` is the EXIF value, 1 to 8; the sides of `result` are exchanged for 5
/// to 8.
void halcyon_orient(halcyon_bitmap source, halcyon_bitmap result, int orientation);

/// Draws a `source` without padding onto `target`, whose rows are `stride` bytes apart: with its alpha over what is
/// there, or in its place. Premultiplied colours must not exceed their alpha.
void halcyon_draw(uint8_t *target, size_t stride, const uint8_t *source, size_t width, size_t height, bool over);

#endif
