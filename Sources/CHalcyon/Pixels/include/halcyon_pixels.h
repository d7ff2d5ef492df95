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

/// The light in which pixels are averaged.
typedef enum {
    /// The values of sRGB as they are.
    HALCYON_LIGHT_ENCODED = 0,
    /// The amounts of light that they stand for.
    HALCYON_LIGHT_LINEAR = 1,
} halcyon_light;

/// Called every few rows; true stops the work.
typedef bool (*halcyon_cancelled)(void *context);

/// A bitmap, or a part of one as a source. Results have no padding.
typedef struct {
    uint8_t *pixels;
    int width;
    int height;
    /// The number of bytes from one row to the next.
    size_t stride;
} halcyon_bitmap;

/// The part of a source that becomes the whole of a result, in source pixels.
typedef struct {
    double x, y, width, height;
} halcyon_region;

/// Scales `region` of `source`, which has an area and lies inside of it, to the size of `result`.
halcyon_status halcyon_resample(halcyon_bitmap source, halcyon_region region, halcyon_bitmap result,
                                halcyon_filter filter, halcyon_light light, halcyon_cancelled cancelled,
                                void *context);

/// A scaling of a part of a source whose rows arrive one after the other; it needs the memory of a few rows.
typedef struct halcyon_row_sink halcyon_row_sink;

/// Creates a sink. `region` has an area and lies inside of the source. NULL if there is no memory. The pixels of
/// `result` belong to the caller, and are written as soon as the rows that they need have arrived.
halcyon_row_sink *halcyon_row_sink_create(int source_width, int source_height, halcyon_region region,
                                          halcyon_bitmap result, halcyon_filter filter, halcyon_light light);
void halcyon_row_sink_free(halcyon_row_sink *sink);
/// Takes the row number `row`, which is read before the call returns. Every row comes once, in order; rows outside of
/// the region, and after the last one that it needs, are ignored.
void halcyon_row_sink_put(halcyon_row_sink *sink, int row, const uint8_t *pixels);
/// Stops writing: further rows are ignored.
void halcyon_row_sink_close(halcyon_row_sink *sink);
/// Whether every pixel of the result is written.
bool halcyon_row_sink_is_full(const halcyon_row_sink *sink);

/// Writes opaque pixels without their alpha: `3 * count` bytes. Little-endian machines only, as all of Halcyon.
void halcyon_pack(const uint8_t *pixels, size_t count, uint8_t *packed);
/// Writes the pixels that `halcyon_pack` was given: `4 * count` bytes.
void halcyon_unpack(const uint8_t *packed, size_t count, uint8_t *pixels);

/// The layouts of other programs; in all but the first two, the order of a pixel's bytes differs from a bitmap's.
typedef enum {
    /// Blue, green, red, alpha, the colours premultiplied: the pixels of a bitmap.
    HALCYON_LAYOUT_BGRA_PREMULTIPLIED = 0,
    /// The same, the colours not premultiplied.
    HALCYON_LAYOUT_BGRA = 1,
    HALCYON_LAYOUT_RGBA_PREMULTIPLIED = 2,
    HALCYON_LAYOUT_RGBA = 3,
    /// Three bytes a pixel, as it shows over white.
    HALCYON_LAYOUT_RGB = 4,
    /// One byte a pixel: the luminance by ITU-R BT.709 of what shows over white.
    HALCYON_LAYOUT_GRAY = 5,
} halcyon_layout;

/// Writes `count` pixels in another layout. `result` must not overlap them.
void halcyon_convert(const uint8_t *pixels, size_t count, halcyon_layout layout, uint8_t *result);
/// Divides colours by their alpha, rounded to the nearest; `result` may be `bgra`. Premultiplying again gives back `bgra`
/// exactly.
void halcyon_unpremultiply(const uint8_t *bgra, uint8_t *result, size_t pixels);

/// Whether every alpha byte is 255.
bool halcyon_is_opaque(const uint8_t *bgra, size_t pixels);

/// Writes `source` turned upright. `orientation` is the EXIF value, 1 to 8; the sides of `result` are exchanged for 5
/// to 8.
halcyon_status halcyon_orient(halcyon_bitmap source, halcyon_bitmap result, int orientation,
                              halcyon_cancelled cancelled, void *context);

/// Blurs like a Gaussian of `sigma` pixels, up to 1,000, which three box passes approximate; beyond its edges the
/// image is extended by its outermost pixels.
halcyon_status halcyon_blur(halcyon_bitmap source, halcyon_bitmap result, double sigma, halcyon_cancelled cancelled,
                            void *context);

/// Rows for red, green, blue and alpha; columns for the same four, from 0 to 1 and not premultiplied, and a bias.
typedef struct {
    float rows[4][5];
    /// Whether colours depend on colours alone, and alpha is a fraction of itself, at most all of it.
    bool is_separable;
} halcyon_color_matrix;

/// Multiplies each pixel with a matrix; the results are clamped to 0 to 1.
halcyon_status halcyon_transform_colors(halcyon_bitmap source, halcyon_bitmap result, const halcyon_color_matrix *matrix,
                                        halcyon_cancelled cancelled, void *context);

typedef struct {
    /// The cosine and sine of the angle, clockwise.
    double cosine, sine;
    /// The background as a pixel.
    uint32_t ground;
    /// Whether the source is opaque.
    bool is_opaque;
} halcyon_turning;

/// Rotates a source about its centre, which becomes the centre of the result.
halcyon_status halcyon_turn(halcyon_bitmap source, halcyon_bitmap result, halcyon_turning turning,
                            halcyon_cancelled cancelled, void *context);

/// Adds `amount` times the difference between the source and its blur. Alpha is unchanged.
halcyon_status halcyon_sharpen(halcyon_bitmap source, halcyon_bitmap result, double sigma, float amount,
                               halcyon_cancelled cancelled, void *context);

/// Fills squares of `side` pixels, from the top left, with their means.
halcyon_status halcyon_pixelate(halcyon_bitmap source, halcyon_bitmap result, int side, halcyon_cancelled cancelled,
                                void *context);

/// Draws a `source` without padding onto `target`, whose rows are `stride` bytes apart: by its alpha over the present
/// pixels, or in place of them. Premultiplied colours must not exceed their alpha.
void halcyon_draw(uint8_t *target, size_t stride, const uint8_t *source, size_t width, size_t height, bool over);

enum {
    /// Luma, and the two chromas of ITU-R BT.601.
    HALCYON_SIMILARITY_CHANNELS = 3,
    /// The whole size, a half, and so on to a sixteenth.
    HALCYON_SIMILARITY_SCALES = 5,
};

/// A picture as planes of luma and chroma at several sizes: two bytes for each pixel.
typedef struct halcyon_planes halcyon_planes;

/// Makes the planes of a picture, over `ground` (0xRRGGBB) where it is not opaque.
halcyon_status halcyon_planes_create(halcyon_bitmap source, uint32_t ground, bool is_opaque, halcyon_planes **planes,
                                     halcyon_cancelled cancelled, void *context);
void halcyon_planes_free(halcyon_planes *planes);

/// The similarities of windows, where 2^24 is that of equal ones, and the number of windows: none where a scale is left out.
typedef struct {
    int64_t total, windows;
} halcyon_similarity_sum;

typedef struct {
    halcyon_similarity_sum sums[HALCYON_SIMILARITY_CHANNELS][HALCYON_SIMILARITY_SCALES];
} halcyon_similarity;

/// Compares the planes of two pictures of one size, in contrast and structure, in luminance as well at the smallest scale. Windows have
/// 8 x 8 pixels and are four apart; scales of less than eight pixels on a side are left out, as are the first two of chroma.
halcyon_status halcyon_planes_compare(const halcyon_planes *one, const halcyon_planes *other,
                                      halcyon_similarity *result, halcyon_cancelled cancelled, void *context);

#endif
