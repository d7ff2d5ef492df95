// libjpeg-turbo and libpng, driven where their longjmp can do no harm: no Swift frame is ever on the stack between
// a setjmp and its longjmp, except the cancel callback, which returns before anything jumps.
#ifndef HALCYON_CODECS_H
#define HALCYON_CODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    HALCYON_CODEC_OK = 0,
    /// The file is broken or was cut off; `message` says how.
    HALCYON_CODEC_DAMAGED = 1,
    HALCYON_CODEC_CANCELLED = 2,
    HALCYON_CODEC_NO_MEMORY = 3,
    /// The pixels cannot be written; `message` says why.
    HALCYON_CODEC_FAILED = 4,
} halcyon_codec_status;

/// What one call is told about its surroundings, and where it leaves its error.
typedef struct {
    /// Asked every 64 rows or so; true stops the work.
    bool (*cancelled)(void *context);
    void *context;
    char message[256];
} halcyon_codec_call;

/// Premultiplied BGRA, `width * 4` bytes a row.
typedef struct {
    uint8_t *pixels;
    int width;
    int height;
} halcyon_codec_bitmap;

/// Takes the rows of an image in order, each as premultiplied BGRA, which it reads before it returns.
typedef struct {
    void (*put)(void *context, int row, const uint8_t *pixels);
    void *context;
} halcyon_codec_rows;

/// Turns ink (255 is all of it) into opaque BGRA; without `convert` by plain multiplication.
typedef struct {
    /// `bgra` may be `cmyk`.
    void (*convert)(void *context, const uint8_t *cmyk, uint8_t *bgra, size_t pixels);
    void *context;
} halcyon_codec_ink;

/// Turns RGBA of 16 bits into BGRA of 8, neither multiplied.
typedef struct {
    void (*convert)(void *context, const uint16_t *rgba, uint8_t *bgra, size_t pixels);
    void *context;
} halcyon_codec_deep;

/// An encoded file on the C heap, which the caller frees with `free`.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
} halcyon_codec_output;

/// What a JPEG is decoded to.
typedef struct {
    int stored_width, stored_height;
    /// Of the stored size; must give exactly `width` x `height`.
    int eighths;
    int width, height;
    halcyon_codec_ink ink;
} halcyon_jpeg_layout;

/// Decodes into `pixels`, or, where that is NULL, row by row into `sink`.
halcyon_codec_status halcyon_jpeg_decode(const uint8_t *data, size_t size, const halcyon_jpeg_layout *layout,
                                         uint8_t *pixels, halcyon_codec_rows sink, halcyon_codec_call *call);

/// A JPEG that is decoded while it arrives. One thread at a time. After any status but OK it only fails.
typedef struct halcyon_jpeg_stream halcyon_jpeg_stream;

/// How far a stream has come.
typedef struct {
    /// Whether the file has several scans, each of which sharpens the whole image.
    bool has_scans;
    /// Scans that are there from top to bottom.
    int scans;
    /// With a single scan: rows that are there, at the size it decodes to.
    int rows;
    /// Whether the end of the file was reached.
    bool is_finished;
} halcyon_jpeg_progress;

/// NULL where there is no memory. What the layout's `ink` points to must outlive the stream.
halcyon_jpeg_stream *halcyon_jpeg_stream_create(const halcyon_jpeg_layout *layout);
void halcyon_jpeg_stream_free(halcyon_jpeg_stream *stream);

/// Takes in more of the file. Keeps only what libjpeg could not use yet.
halcyon_codec_status halcyon_jpeg_stream_append(halcyon_jpeg_stream *stream, const uint8_t *data, size_t size,
                                                halcyon_codec_call *call);

halcyon_jpeg_progress halcyon_jpeg_stream_progress(const halcyon_jpeg_stream *stream);

/// Writes the image as it is by now; rows that are not there are transparent. With scans, at least one must be there.
halcyon_codec_status halcyon_jpeg_stream_read(halcyon_jpeg_stream *stream, halcyon_codec_bitmap bitmap,
                                              halcyon_codec_call *call);

/// - quality: 1 to 100. - background: 0xRRGGBB under transparent pixels, unless `opaque`.
halcyon_codec_status halcyon_jpeg_encode(halcyon_codec_bitmap bitmap, bool opaque, uint32_t background, int quality,
                                         bool progressive, halcyon_codec_output *output, halcyon_codec_call *call);

/// What a PNG is decoded to: its stored size.
typedef struct {
    int width, height;
    /// For a file of 16 bits that is not interlaced; without `convert` the channels are rounded to 8.
    halcyon_codec_deep deep;
} halcyon_png_layout;

/// Decodes into `pixels`, or, where that is NULL, row by row into `sink`, which a file that is interlaced cannot be.
halcyon_codec_status halcyon_png_decode(const uint8_t *data, size_t size, halcyon_png_layout layout, uint8_t *pixels,
                                        halcyon_codec_rows sink, halcyon_codec_call *call);

/// A PNG that is decoded while it arrives, at its stored size. One thread at a time. After any status but OK it only
/// fails.
typedef struct halcyon_png_stream halcyon_png_stream;

/// NULL where there is no memory.
halcyon_png_stream *halcyon_png_stream_create(halcyon_png_layout layout);
void halcyon_png_stream_free(halcyon_png_stream *stream);
halcyon_codec_status halcyon_png_stream_append(halcyon_png_stream *stream, const uint8_t *data, size_t size,
                                               halcyon_codec_call *call);
/// Rows that came, of an interlaced file those of every pass: more than before is something new to show.
int halcyon_png_stream_rows(const halcyon_png_stream *stream);
bool halcyon_png_stream_is_finished(const halcyon_png_stream *stream);
/// Writes the image as it is by now, of the stored size; rows that are not there are transparent, and pixels of an
/// interlaced file as large as its passes so far make them.
void halcyon_png_stream_read(const halcyon_png_stream *stream, halcyon_codec_bitmap bitmap);

/// Writes RGBA, or RGB where every pixel is opaque and `keeps_alpha` is false.
halcyon_codec_status halcyon_png_encode(halcyon_codec_bitmap bitmap, bool keeps_alpha, halcyon_codec_output *output,
                                        halcyon_codec_call *call);

/// A page of a TIFF: where its directory stands, what that said, and the largest piece of memory that libtiff may take.
typedef struct {
    uint64_t directory;
    bool has_palette, has_alpha;
    size_t most_bytes;
    halcyon_codec_ink ink;
} halcyon_tiff_layout;

/// Decodes a page, which must have the size of `bitmap`, as it is stored.
halcyon_codec_status halcyon_tiff_decode(const uint8_t *data, size_t size, halcyon_tiff_layout layout,
                                         halcyon_codec_bitmap bitmap, halcyon_codec_call *call);

/// The document's own size in pixels; may be zero, negative or no number.
halcyon_codec_status halcyon_svg_size(const uint8_t *data, size_t size, double *width, double *height,
                                      halcyon_codec_call *call);

/// Draws the whole document onto the whole bitmap.
halcyon_codec_status halcyon_svg_render(const uint8_t *data, size_t size, halcyon_codec_bitmap bitmap,
                                        halcyon_codec_call *call);

/// How colours become sRGB: made of a profile, by lcms2. Safe from any thread once it is made.
typedef struct halcyon_color halcyon_color;

typedef enum { HALCYON_COLOR_RGB, HALCYON_COLOR_GRAY, HALCYON_COLOR_CMYK } halcyon_color_model;

/// NULL where the profile is broken, is none of pixels, or changes no colour by more than one level, and where there is
/// no memory. A deep one takes words instead of bytes.
halcyon_color *halcyon_color_create(const uint8_t *profile, size_t size, halcyon_color_model model, bool is_deep,
                                    bool *no_memory);
/// From the chromaticities of white, red, green and blue (x, y each), and a curve from 0...1 to linear light.
halcyon_color *halcyon_color_create_from_primaries(const double chromaticities[8], const float *curve, size_t count,
                                                   bool is_deep, bool *no_memory);
void halcyon_color_free(halcyon_color *color);
/// Converts premultiplied BGRA in place.
void halcyon_color_convert(const halcyon_color *color, uint8_t *bgra, size_t pixels, bool is_opaque);
/// Converts ink, 255 is all of it, into opaque BGRA.
void halcyon_color_convert_ink(const halcyon_color *color, const uint8_t *cmyk, uint8_t *bgra, size_t pixels);
/// Converts RGBA of 16 bits, not multiplied, into BGRA of 8, not multiplied. For a deep one only.
void halcyon_color_convert_deep(const halcyon_color *color, const uint16_t *rgba, uint8_t *bgra, size_t pixels);

/// Multiplies blue, green and red by alpha in place, rounded to the nearest.
void halcyon_premultiply(uint8_t *bgra, size_t pixels);

/// Swaps red and blue. Above 8 `bits`, up to 16, a channel is a little-endian word, rounded to the nearest of 8 bits.
void halcyon_rgba_to_bgra(const uint8_t *rgba, uint8_t *bgra, size_t pixels, int bits);

/// Sets every alpha byte to 255.
void halcyon_make_opaque(uint8_t *bgra, size_t pixels);

/// The reverse of `halcyon_premultiply`, rounded to the nearest; `result` may be `bgra`. Multiplying again gives back `bgra` exactly.
void halcyon_unpremultiply(const uint8_t *bgra, uint8_t *result, size_t pixels);

/// Whether every alpha byte is 255.
bool halcyon_is_opaque(const uint8_t *bgra, size_t pixels);

#endif
