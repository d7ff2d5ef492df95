// libjpeg-turbo and libpng, called where their longjmp is harmless: no Swift frame is ever on the stack between a
// setjmp and its longjmp, except the cancel callback, which returns before anything jumps.
#ifndef HALCYON_CODECS_H
#define HALCYON_CODECS_H

// halcyon_unpremultiply, which encoders call.
#include <halcyon_pixels.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    HALCYON_CODEC_OK = 0,
    /// The file is damaged or truncated; `message` has the reason.
    HALCYON_CODEC_DAMAGED = 1,
    HALCYON_CODEC_CANCELLED = 2,
    HALCYON_CODEC_NO_MEMORY = 3,
    /// The pixels cannot be written; `message` has the reason.
    HALCYON_CODEC_FAILED = 4,
} halcyon_codec_status;

/// The context of one call: its cancellation, and the buffer for its error.
typedef struct {
    /// Called about every 64 rows; true stops the work.
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

/// Receives the rows of an image in order, each as premultiplied BGRA, and reads a row before it returns.
typedef struct {
    void (*put)(void *context, int row, const uint8_t *pixels);
    /// Returns memory for the next row, which is then put from there without a copy, or NULL. May be NULL itself.
    uint8_t *(*place)(void *context, int row);
    void *context;
} halcyon_codec_rows;

/// Converts ink (255 is full) to opaque BGRA; without `convert`, by plain multiplication.
typedef struct {
    /// `bgra` may be `cmyk`.
    void (*convert)(void *context, const uint8_t *cmyk, uint8_t *bgra, size_t pixels);
    void *context;
} halcyon_codec_ink;

/// Converts RGBA of 16 bits to BGRA of 8, neither premultiplied.
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

/// The geometry of a JPEG decode.
typedef struct {
    int stored_width, stored_height;
    /// The scale in eighths of the stored size; it must give exactly `width` x `height`.
    int eighths;
    int width, height;
    halcyon_codec_ink ink;
} halcyon_jpeg_layout;

/// Decodes into `pixels`, or row by row into `sink` if `pixels` is NULL.
halcyon_codec_status halcyon_jpeg_decode(const uint8_t *data, size_t size, const halcyon_jpeg_layout *layout,
                                         uint8_t *pixels, halcyon_codec_rows sink, halcyon_codec_call *call);

/// Checks that the coefficients are all there, and those of a picture of 8 bits. Beyond these, decoders round, cut and overflow each in
/// its own way. Takes the memory of a file with several scans.
halcyon_codec_status halcyon_jpeg_check_coefficients(const uint8_t *data, size_t size, halcyon_codec_call *call);

/// A JPEG that is decoded while it arrives. One thread at a time. After any status but OK, all calls fail.
typedef struct halcyon_jpeg_stream halcyon_jpeg_stream;

/// The progress of a stream.
typedef struct {
    /// Whether the file has several scans, each of which refines the whole image.
    bool has_scans;
    /// The number of complete scans.
    int scans;
    /// The number of decoded rows at the output size, for a single scan.
    int rows;
    /// Whether the end of the file was reached.
    bool is_finished;
} halcyon_jpeg_progress;

/// Creates a stream; NULL if there is no memory. The context of the layout's `ink` must outlive the stream.
halcyon_jpeg_stream *halcyon_jpeg_stream_create(const halcyon_jpeg_layout *layout);
void halcyon_jpeg_stream_free(halcyon_jpeg_stream *stream);

/// Appends bytes of the file. Keeps only the bytes that libjpeg could not use yet.
halcyon_codec_status halcyon_jpeg_stream_append(halcyon_jpeg_stream *stream, const uint8_t *data, size_t size,
                                                halcyon_codec_call *call);

/// Ends the stream where its data ends, which may lack the end marker. The stream is finished if no pixel is missing, or if
/// some may be.
halcyon_codec_status halcyon_jpeg_stream_end(halcyon_jpeg_stream *stream, bool allows_missing,
                                             halcyon_codec_call *call);
halcyon_jpeg_progress halcyon_jpeg_stream_progress(const halcyon_jpeg_stream *stream);

/// Writes the present image; rows that have not arrived are transparent. With scans, at least one must be complete.
halcyon_codec_status halcyon_jpeg_stream_read(halcyon_jpeg_stream *stream, halcyon_codec_bitmap bitmap,
                                              halcyon_codec_call *call);

/// The channels of a JPEG: colours at half size both ways, at full size, or grey alone.
typedef enum { HALCYON_JPEG_HALF, HALCYON_JPEG_FULL, HALCYON_JPEG_GRAY } halcyon_jpeg_colors;

/// Encodes a JPEG. `quality` is 1 to 100. `background` is the 0xRRGGBB under transparent pixels, unless `opaque`.
halcyon_codec_status halcyon_jpeg_encode(halcyon_codec_bitmap bitmap, bool opaque, uint32_t background, int quality,
                                         bool progressive, halcyon_jpeg_colors colors, halcyon_codec_output *output,
                                         halcyon_codec_call *call);

/// A PNG whose rows can be read without libpng: not interlaced, at most 8 bits a channel, and with nothing about its chunks
/// that libpng would refuse.
typedef struct {
    /// 1 for an index or grey, with 1, 2, 4 or 8 bits; 2 for grey with alpha, 3 for RGB, 4 for RGBA, all of 8 bits.
    int channels, bits;
    /// Premultiplied BGRA for each value of a single channel.
    const uint32_t *colors;
    /// The offsets of the first IDAT chunk and of the end of the last one. All between are IDAT chunks.
    size_t start, end;
} halcyon_png_plain;

/// The stored size of a PNG, which it is decoded to.
typedef struct {
    int width, height;
    /// Used for a file of 16 bits that is not interlaced; without `convert` the channels are rounded to 8.
    halcyon_codec_deep deep;
    /// NULL if the file needs libpng. Not used by a stream.
    const halcyon_png_plain *plain;
} halcyon_png_layout;

/// Decodes into `pixels`, or row by row into `sink` if `pixels` is NULL, which an interlaced file does not allow.
halcyon_codec_status halcyon_png_decode(const uint8_t *data, size_t size, halcyon_png_layout layout, uint8_t *pixels,
                                        halcyon_codec_rows sink, halcyon_codec_call *call);

/// Decodes RGBA of 16 bits a channel in the machine's order, not premultiplied, `width * height` of them.
halcyon_codec_status halcyon_png_decode_deep(const uint8_t *data, size_t size, int width, int height, uint16_t *words,
                                             halcyon_codec_call *call);

/// A PNG that is decoded while it arrives, at its stored size. One thread at a time. After any status but OK, all
/// calls fail.
typedef struct halcyon_png_stream halcyon_png_stream;

/// Creates a stream; NULL if there is no memory.
halcyon_png_stream *halcyon_png_stream_create(halcyon_png_layout layout);
void halcyon_png_stream_free(halcyon_png_stream *stream);
halcyon_codec_status halcyon_png_stream_append(halcyon_png_stream *stream, const uint8_t *data, size_t size,
                                               halcyon_codec_call *call);
/// Returns the number of rows that have arrived, of an interlaced file those of every pass: a higher number than
/// before means something new to show.
int halcyon_png_stream_rows(const halcyon_png_stream *stream);
bool halcyon_png_stream_is_finished(const halcyon_png_stream *stream);
/// Returns whether no pixel is missing, although the end chunk may be.
bool halcyon_png_stream_is_whole(const halcyon_png_stream *stream);
/// Writes the present image at the stored size; rows that have not arrived are transparent, and pixels of an
/// interlaced file are as large as its passes so far make them.
void halcyon_png_stream_read(const halcyon_png_stream *stream, halcyon_codec_bitmap bitmap);

/// Encodes RGBA, or RGB if every pixel is opaque and `keeps_alpha` is false.
halcyon_codec_status halcyon_png_encode(halcyon_codec_bitmap bitmap, bool keeps_alpha, halcyon_codec_output *output,
                                        halcyon_codec_call *call);

/// Encodes premultiplied RGBA of 16 bits a channel, without alpha if `is_opaque`. `is_srgb` adds the chunk that says so.
halcyon_codec_status halcyon_png_encode_deep(const uint16_t *words, int width, int height, bool is_opaque, bool is_srgb,
                                             halcyon_codec_output *output, halcyon_codec_call *call);

/// A colour conversion to sRGB, by lcms2 or by mapping tones. Safe from any thread once it is created.
typedef struct halcyon_color halcyon_color;

typedef enum { HALCYON_COLOR_RGB, HALCYON_COLOR_GRAY, HALCYON_COLOR_CMYK } halcyon_color_model;

/// Creates a conversion; NULL if the profile is broken, is not one for pixels, or changes no colour by more than one
/// level, or if there is no memory. A deep conversion takes words instead of bytes.
halcyon_color *halcyon_color_create(const uint8_t *profile, size_t size, halcyon_color_model model, bool is_deep,
                                    bool *no_memory);
/// Creates one from the chromaticities of white, red, green and blue (x, y each), and a curve from 0...1 to linear
/// light.
halcyon_color *halcyon_color_create_from_primaries(const double chromaticities[8], const float *curve, size_t count,
                                                   bool is_deep, bool *no_memory);
/// Creates a conversion of floats to the linear light of sRGB, which also is outside of 0 to 1; NULL if the profile is broken, is not
/// one for pixels of this model, or if there is no memory.
halcyon_color *halcyon_color_create_to_light(const uint8_t *profile, size_t size, halcyon_color_model model,
                                             bool *no_memory);
enum {
    /// The number of entries of `light`: for the signals 0, 16, 32 ... 65536, of which 65535 is the highest.
    HALCYON_TONE_LIGHTS = 4097,
    /// The number of equal steps of an octave.
    HALCYON_TONE_STEPS = 32,
};

/// A function from 2^lowest to 2^highest, at most 24 octaves: its values at the steps of each octave, and at the end. Where it is
/// asked for beyond, it has the value of that end.
typedef struct {
    const float *values;
    int lowest, highest;
} halcyon_tone_octaves;

/// A conversion that maps tones: signal, light, light of the display if it is that of a scene, scaled light, light in the primaries
/// of sRGB. Light is 1 where sRGB is white.
typedef struct {
    const float *light;
    /// The factor from the light of a scene to that of the display, by the luminance of the scene. No values if the signal is that of
    /// the display.
    halcyon_tone_octaves display;
    /// The weights of red, green and blue in that luminance.
    float luminance[3];
    /// The factor by the largest of red, green and blue.
    halcyon_tone_octaves scale;
    /// The rows of the matrix to the primaries of sRGB.
    float matrix[9];
    /// The level of sRGB, 0 to 255, of light.
    halcyon_tone_octaves encoded;
} halcyon_tone_curves;

/// Creates a conversion that maps tones, for both bytes and words. The curves are copied.
halcyon_color *halcyon_color_create_tone(const halcyon_tone_curves *curves, bool *no_memory);
void halcyon_color_free(halcyon_color *color);
/// Converts RGBA in place, not premultiplied. Only for a conversion to light.
void halcyon_color_convert_to_light(const halcyon_color *color, float *rgba, size_t pixels);
/// Converts premultiplied BGRA in place.
void halcyon_color_convert(const halcyon_color *color, uint8_t *bgra, size_t pixels, bool is_opaque);
/// Converts ink (255 is full) to opaque BGRA.
void halcyon_color_convert_ink(const halcyon_color *color, const uint8_t *cmyk, uint8_t *bgra, size_t pixels);
/// Converts RGBA of 16 bits to BGRA of 8, neither premultiplied. Only for a deep conversion.
void halcyon_color_convert_deep(const halcyon_color *color, const uint16_t *rgba, uint8_t *bgra, size_t pixels);

/// Multiplies blue, green and red by alpha in place, rounded to the nearest.
void halcyon_premultiply(uint8_t *bgra, size_t pixels);

/// Swaps red and blue; `bgra` may be `rgba`. Above 8 `bits`, up to 16, a channel is a little-endian word, rounded to the nearest of 8 bits.
void halcyon_rgba_to_bgra(const uint8_t *rgba, uint8_t *bgra, size_t pixels, int bits);

/// Sets every alpha byte to 255.
void halcyon_make_opaque(uint8_t *bgra, size_t pixels);

/// The number of modules for more formats that there are, linked or not.
size_t halcyon_linked_coder_count(void);

/// Makes the coder of a module for more formats, a retained object of Swift; NULL if the program does not link the module.
void *halcyon_linked_coder(size_t index);

#endif
