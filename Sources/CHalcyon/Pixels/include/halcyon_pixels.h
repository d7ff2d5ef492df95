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

/// A bitmap, or as a source a part of one. Results have no padding.
typedef struct {
    uint8_t *pixels;
    int width;
    int height;
    /// Bytes from a row to the next.
    size_t stride;
} halcyon_bitmap;

/// The part of a source that becomes the whole of a result, in source pixels.
typedef struct {
    double x, y, width, height;
} halcyon_region;

/// Scales `region` of `source`, which has an area and lies inside of it, to the size of `result`.
halcyon_status halcyon_resample(halcyon_bitmap source, halcyon_region region, halcyon_bitmap result,
                                halcyon_filter filter, halcyon_cancelled cancelled, void *context);

/// Makes a bitmap of the part of a source whose rows come one after the other, in the memory of a few rows.
typedef struct halcyon_row_sink halcyon_row_sink;

/// `region` has an area and lies inside of the source. NULL where there is no memory. The pixels of `result` belong to the
/// caller, and are written as soon as the rows that they need are there.
halcyon_row_sink *halcyon_row_sink_create(int source_width, int source_height, halcyon_region region,
                                          halcyon_bitmap result, halcyon_filter filter);
void halcyon_row_sink_free(halcyon_row_sink *sink);
/// Takes in the row number `row`, which is read before the call returns. Every row comes once, in order; those outside of
/// the region, and after the last one that it needs, are passed over.
void halcyon_row_sink_put(halcyon_row_sink *sink, int row, const uint8_t *pixels);
/// Writes no more: what comes is passed over.
void halcyon_row_sink_close(halcyon_row_sink *sink);
/// Whether every pixel of the result is written.
bool halcyon_row_sink_is_full(const halcyon_row_sink *sink);

/// Writes `source` turned upright. `orientation` is the EXIF value, 1 to 8; the sides of `result` are exchanged for 5
/// to 8.
halcyon_status halcyon_orient(halcyon_bitmap source, halcyon_bitmap result, int orientation,
                              halcyon_cancelled cancelled, void *context);

/// Blurs by a Gaussian of `sigma` pixels, up to 1,000, of which three passes of a box come near; beyond its edges the image
/// goes on as its outermost pixels.
halcyon_status halcyon_blur(halcyon_bitmap source, halcyon_bitmap result, double sigma, halcyon_cancelled cancelled,
                            void *context);

/// Rows for red, green, blue and alpha; columns for the same four of 0 to 1, not multiplied with alpha, and what is added.
typedef struct {
    float rows[4][5];
    /// Whether colours depend on colours alone, and alpha is a part of itself, up to all of it.
    bool is_separable;
} halcyon_color_matrix;

/// Multiplies each pixel with a matrix; what leaves 0 to 1 is clamped.
halcyon_status halcyon_transform_colors(halcyon_bitmap source, halcyon_bitmap result, const halcyon_color_matrix *matrix,
                                        halcyon_cancelled cancelled, void *context);

typedef struct {
    /// Of the angle, clockwise.
    double cosine, sine;
    /// What lies behind the image, as a pixel.
    uint32_t ground;
    /// Whether the source is.
    bool is_opaque;
} halcyon_turning;

/// Turns a source about its middle, which is that of the result.
halcyon_status halcyon_turn(halcyon_bitmap source, halcyon_bitmap result, halcyon_turning turning,
                            halcyon_cancelled cancelled, void *context);

/// Adds `amount` times what a blur takes away. Alpha stays as it is.
halcyon_status halcyon_sharpen(halcyon_bitmap source, halcyon_bitmap result, double sigma, float amount,
                               halcyon_cancelled cancelled, void *context);

/// Fills squares of `side` pixels, from the top left, with their means.
halcyon_status halcyon_pixelate(halcyon_bitmap source, halcyon_bitmap result, int side, halcyon_cancelled cancelled,
                                void *context);

/// Draws a `source` without padding onto `target`, whose rows are `stride` bytes apart: with its alpha over what is
/// there, or in its place. Premultiplied colours must not exceed their alpha.
void halcyon_draw(uint8_t *target, size_t stride, const uint8_t *source, size_t width, size_t height, bool over);

#endif
