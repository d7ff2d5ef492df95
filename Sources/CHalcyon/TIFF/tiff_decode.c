#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#include "tiff_samples.h"

/// The file in memory that libtiff reads, and the destination of its first error.
typedef struct {
    const uint8_t *data;
    uint64_t size;
    uint64_t offset;
    halcyon_codec_call *call;
    /// The jump for an error after which libtiff must not go on.
    jmp_buf leave;
    /// The handle that must be freed then; NULL if it cannot be.
    TIFF *broken;
    /// Whether a strip or tile of JPEG has fewer pixels than its place, for which libtiff shows those of another.
    bool has_short_jpeg;
} source_t;

static tmsize_t read_bytes(thandle_t handle, void *target, tmsize_t count) {
    source_t *source = handle;
    if (count <= 0 || source->offset >= source->size) return 0;
    uint64_t rest = source->size - source->offset;
    uint64_t length = (uint64_t)count < rest ? (uint64_t)count : rest;
    memcpy(target, source->data + source->offset, length);
    source->offset += length;
    return (tmsize_t)length;
}

static tmsize_t write_nothing(thandle_t handle, void *bytes, tmsize_t count) {
    (void)handle, (void)bytes, (void)count;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    source_t *source = handle;
    // Reads beyond the end return nothing, so wrapping around does no harm.
    source->offset = whence == SEEK_SET ? offset : whence == SEEK_CUR ? source->offset + offset : source->size + offset;
    return source->offset;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((source_t *)handle)->size; }

/// Maps the file's memory itself, so that nothing is copied before it is unpacked. libtiff only reads it.
static int lend(thandle_t handle, void **base, toff_t *size) {
    source_t *source = handle;
    *base = (void *)(uintptr_t)source->data;
    *size = source->size;
    return 1;
}

static void take_back(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int keep_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    source_t *source = user;
    halcyon_codec_call *call = source->call;
    char message[sizeof call->message];
    vsnprintf(message, sizeof message, format, arguments);
    if (call->message[0] == 0) memcpy(call->message, message, sizeof message);
    // libtiff 4.5 goes on without the table of its fields, and reads through it.
    bool has_no_fields = strcmp(format, "Failed to allocate fields array") == 0;
    // libtiff has counted a value that does not exist, and would free it: the contents of the handle are leaked.
    bool has_no_values = strcmp(format, "%s: Failed to allocate space for list of custom values") == 0;
    // libtiff uses a libjpeg that it could not set up. The read buffer leaks as well.
    bool has_no_jpeg = module != NULL && strcmp(module, "JPEGLib") == 0 && strstr(message, "Insufficient memory") != NULL;
    if (has_no_fields || has_no_values || has_no_jpeg) {
        source->broken = has_no_values ? NULL : tiff;
        longjmp(source->leave, 1);
    }
    return 1;
}

/// Ignores a warning, for other programs show such files, but for one of missing pixels.
static int judge_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)module, (void)arguments;
    static const char short_jpeg[] = "Improper JPEG strip/tile size";
    if (strncmp(format, short_jpeg, sizeof short_jpeg - 1) == 0) ((source_t *)user)->has_short_jpeg = true;
    return 1;
}

static TIFFOpenOptions *make_options(source_t *source, size_t most_bytes) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most_bytes);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, source);
    TIFFOpenOptionsSetWarningHandlerExtR(options, judge_warning, source);
    return options;
}

static TIFF *open_source(source_t *source, TIFFOpenOptions *options) {
    // The tables of strips are read on demand.
    return TIFFClientOpenExt("data", "rD", source, read_bytes, write_nothing, seek, close_nothing, size_of, lend,
                             take_back, options);
}

/// Converts 16-bit grey with rounding, where libtiff truncates to the upper byte. Replaces its routine, with its
/// arguments.
static void put_gray16(TIFFRGBAImage *image, uint32_t *raster, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       int32_t from_skew, int32_t to_skew, unsigned char *bytes) {
    (void)x, (void)y;
    size_t samples = image->samplesperpixel;
    const uint16_t *words = (const uint16_t *)bytes;
    for (; height > 0; height--) {
        for (uint32_t column = 0; column < width; column++, words += samples) {
            uint32_t value = (words[0] * 255u + 32767u) / 65535u;
            if (image->photometric == PHOTOMETRIC_MINISWHITE) value = 255 - value;
            uint32_t alpha = image->alpha && samples > 1 ? (words[1] * 255u + 32767u) / 65535u : 255;
            *raster++ = value | value << 8 | value << 16 | alpha << 24;
        }
        raster += to_skew;
        words += (ptrdiff_t)from_skew * (ptrdiff_t)samples;
    }
}

/// Copies ink unchanged for a conversion by profile, where libtiff multiplies it itself. Replaces its routine, with
/// its arguments.
static void put_ink(TIFFRGBAImage *image, uint32_t *raster, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                    int32_t from_skew, int32_t to_skew, unsigned char *bytes) {
    (void)x, (void)y;
    size_t samples = image->samplesperpixel;
    for (; height > 0; height--) {
        for (uint32_t column = 0; column < width; column++, bytes += samples) memcpy(raster++, bytes, 4);
        raster += to_skew;
        bytes += (ptrdiff_t)from_skew * (ptrdiff_t)samples;
    }
}

/// The light of a channel of sRGB as it is stored.
static uint32_t encoded_light(double light) {
    if (!(light > 0)) return 0;
    if (light >= 1) return 255;
    light = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
    return (uint32_t)(light * 255 + 0.5);
}

/// The inverse of the function by which CIELab compresses light.
static double lab_light(double value) {
    return value > 6.0 / 29 ? value * value * value : 3 * (6.0 / 29) * (6.0 / 29) * (value - 4.0 / 29);
}

/// Converts CIELab of 8 or 16 bits, whose white is D50, to sRGB with Bradford's adaptation. libtiff takes that white for
/// the screen's, so that its white is yellow. Replaces its routine, with its arguments.
static void put_lab(TIFFRGBAImage *image, uint32_t *raster, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                    int32_t from_skew, int32_t to_skew, unsigned char *bytes) {
    (void)x, (void)y;
    bool is_wide = image->bitspersample == 16;
    size_t size = is_wide ? 6 : 3;
    for (; height > 0; height--) {
        for (uint32_t column = 0; column < width; column++, bytes += size) {
            uint16_t words[3];
            memcpy(words, bytes, size);
            double lightness = is_wide ? words[0] / 65535.0 : bytes[0] / 255.0;
            double a = is_wide ? (int16_t)words[1] / 256.0 : (int8_t)bytes[1];
            double b = is_wide ? (int16_t)words[2] / 256.0 : (int8_t)bytes[2];
            double middle = (lightness * 100 + 16) / 116;
            double X = 0.96422 * lab_light(middle + a / 500), Y = lab_light(middle);
            double Z = 0.82521 * lab_light(middle - b / 200);
            uint32_t red = encoded_light(3.1338561 * X - 1.6168667 * Y - 0.4906146 * Z);
            uint32_t green = encoded_light(-0.9787684 * X + 1.9161415 * Y + 0.0334540 * Z);
            uint32_t blue = encoded_light(0.0719453 * X - 0.2289914 * Y + 1.4052427 * Z);
            *raster++ = red | green << 8 | blue << 16 | 255u << 24;
        }
        raster += to_skew;
        bytes += (ptrdiff_t)from_skew * (ptrdiff_t)size;
    }
}

static void swap_red_and_blue(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++, pixels += 4) {
        uint8_t red = pixels[0];
        pixels[0] = pixels[2];
        pixels[2] = red;
    }
}

/// Returns a number of rows that covers whole strips or rows of tiles, so that none is unpacked twice: a single one if the
/// next may be missing.
static uint32_t rows_at_once(TIFF *tiff, uint32_t height, bool allows_missing) {
    uint32_t unit = 0;
    TIFFGetFieldDefaulted(tiff, TIFFIsTiled(tiff) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &unit);
    if (unit == 0 || unit >= height) return height;
    return unit >= 256 || allows_missing ? unit : unit * ((256 + unit - 1) / unit);
}

static halcyon_codec_status read_rows(TIFFRGBAImage *image, halcyon_codec_bitmap bitmap, bool allows_missing,
                                      halcyon_codec_call *call, uint32_t *there) {
    uint32_t height = (uint32_t)bitmap.height;
    uint32_t step = rows_at_once(image->tif, height, allows_missing);
    for (uint32_t row = 0; row < height; row += step) {
        if (halcyon_is_cancelled(call)) return HALCYON_CODEC_CANCELLED;
        uint32_t rows = step < height - row ? step : height - row;
        image->row_offset = (int)row;
        uint32_t *raster = (uint32_t *)(void *)(bitmap.pixels + (size_t)row * (size_t)bitmap.width * 4);
        if (!TIFFRGBAImageGet(image, raster, (uint32_t)bitmap.width, rows)) return HALCYON_CODEC_DAMAGED;
        *there = row + rows;
    }
    return HALCYON_CODEC_OK;
}

/// Whether libtiff had memory for the fields that decoding reads. If it had none, it reports that they are present,
/// returns NULL for them and dereferences that itself.
static bool has_fields(TIFF *tiff) {
    uint16_t count = 0, *samples = NULL, *red = NULL, *green = NULL, *blue = NULL;
    uint32_t length = 0;
    void *tables = NULL;
    if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &samples) && count > 0 && samples == NULL) return false;
    if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue) && (!red || !green || !blue)) return false;
    return !TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &length, &tables) || length == 0 || tables != NULL;
}

/// Reads a page of a kind that libtiff shows itself.
static halcyon_codec_status decode_shown(TIFF *tiff, halcyon_tiff_layout layout, halcyon_codec_bitmap bitmap,
                                         halcyon_codec_call *call, uint32_t *rows) {
    char reason[1024] = "";
    TIFFRGBAImage image;
    if (!TIFFRGBAImageOK(tiff, reason) || !TIFFRGBAImageBegin(&image, tiff, 1, reason)) {
        if (call->message[0] == 0) halcyon_set_message(call, reason);
        return HALCYON_CODEC_DAMAGED;
    }
    halcyon_codec_status status = HALCYON_CODEC_DAMAGED;
    bool is_gray = image.photometric == PHOTOMETRIC_MINISBLACK || image.photometric == PHOTOMETRIC_MINISWHITE;
    bool is_ink = image.photometric == PHOTOMETRIC_SEPARATED && image.isContig && image.bitspersample == 8
                  && image.samplesperpixel >= 4 && layout.ink.convert != NULL;
    // Orientation is applied elsewhere, for all formats.
    image.orientation = ORIENTATION_TOPLEFT;
    image.req_orientation = ORIENTATION_TOPLEFT;
    if (image.width != (uint32_t)bitmap.width || image.height != (uint32_t)bitmap.height) {
        halcyon_set_message(call, "libtiff reads another size from its header");
    } else if (layout.has_palette && image.photometric != PHOTOMETRIC_PALETTE) {
        // libtiff would show the indices as grey.
        halcyon_set_message(call, "the palette is missing");
    } else if (is_gray && image.samplesperpixel > 1 && image.bitspersample < 8) {
        halcyon_set_message(call, "it is of a kind that is not read: grey with alpha and few bits");
    } else {
        if (is_gray && image.isContig && image.bitspersample == 16) image.put.contig = put_gray16;
        if (is_ink) image.put.contig = put_ink;
        if (image.photometric == PHOTOMETRIC_CIELAB && image.isContig) image.put.contig = put_lab;
        status = read_rows(&image, bitmap, layout.allows_missing, call, rows);
    }
    // libtiff premultiplies all other pixels itself, but not grey.
    bool is_straight = is_gray && image.isContig && image.alpha == EXTRASAMPLE_UNASSALPHA;
    TIFFRGBAImageEnd(&image);
    size_t pixels = (size_t)bitmap.width * *rows;
    if (is_ink) {
        layout.ink.convert(layout.ink.context, bitmap.pixels, bitmap.pixels, pixels);
        return status;
    }
    swap_red_and_blue(bitmap.pixels, pixels);
    if (!layout.has_alpha) {
        halcyon_make_opaque(bitmap.pixels, pixels);
    } else if (is_straight) {
        halcyon_premultiply(bitmap.pixels, pixels);
    }
    return status;
}

/// Unpacks Deflate by zlib. By libdeflate, libtiff 4.5 takes a strip that unpacks to more than its place for a good one, and leaves
/// the place as it was before.
static void avoid_libdeflate(TIFF *tiff) {
    uint16_t compression = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    if (compression != COMPRESSION_ADOBE_DEFLATE && compression != COMPRESSION_DEFLATE) return;
    TIFFSetField(tiff, TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
}

static halcyon_codec_status decode_page(TIFF *tiff, halcyon_tiff_layout layout, halcyon_codec_bitmap bitmap,
                                        halcyon_codec_call *call) {
    if (!has_fields(tiff)) return HALCYON_CODEC_NO_MEMORY;
    avoid_libdeflate(tiff);
    halcyon_tiff_samples samples;
    uint32_t rows = 0;
    halcyon_codec_status status;
    bool has_samples = halcyon_tiff_has_samples(tiff, layout.has_alpha, layout.words != NULL, &samples);
    if (!has_samples && layout.words != NULL) {
        halcyon_set_message(call, "its channels are of another kind than its header says");
        return HALCYON_CODEC_DAMAGED;
    }
    if (!has_samples) {
        status = decode_shown(tiff, layout, bitmap, call, &rows);
    } else if (samples.width != (uint32_t)bitmap.width || samples.height != (uint32_t)bitmap.height) {
        halcyon_set_message(call, "libtiff reads another size from its header");
        return HALCYON_CODEC_DAMAGED;
    } else {
        status = halcyon_tiff_read_samples(tiff, &samples, &layout, bitmap, call, &rows);
    }
    if (status != HALCYON_CODEC_DAMAGED || !layout.allows_missing || rows == 0 || layout.words != NULL) return status;
    size_t row_size = (size_t)bitmap.width * 4;
    memset(bitmap.pixels + row_size * rows, 0, row_size * ((size_t)bitmap.height - rows));
    return HALCYON_CODEC_OK;
}

/// A separate function, so that no local variable of the function with the setjmp changes after it.
static halcyon_codec_status decode_source(source_t *source, TIFFOpenOptions *options, halcyon_tiff_layout layout,
                                          halcyon_codec_bitmap bitmap) {
    halcyon_codec_call *call = source->call;
    TIFF *tiff = open_source(source, options);
    if (tiff == NULL) return HALCYON_CODEC_DAMAGED;
    halcyon_codec_status status = HALCYON_CODEC_DAMAGED;
    if (TIFFCurrentDirOffset(tiff) == layout.directory || TIFFSetSubDirectory(tiff, layout.directory)) {
        status = decode_page(tiff, layout, bitmap, call);
    }
    TIFFClose(tiff);
    if (status != HALCYON_CODEC_OK || !source->has_short_jpeg) return status;
    halcyon_set_message(call, "a strip or tile has fewer pixels than its place");
    return HALCYON_CODEC_DAMAGED;
}

halcyon_codec_status halcyon_tiff_decode(const uint8_t *data, size_t size, halcyon_tiff_layout layout,
                                         halcyon_codec_bitmap bitmap, halcyon_codec_call *call) {
    source_t source = {.data = data, .size = size, .call = call};
    TIFFOpenOptions *options = make_options(&source, layout.most_bytes);
    if (options == NULL) return HALCYON_CODEC_NO_MEMORY;
    halcyon_codec_status status;
    if (setjmp(source.leave) == 0) {
        status = decode_source(&source, options, layout, bitmap);
    } else {
        if (source.broken != NULL) TIFFCleanup(source.broken);
        status = HALCYON_CODEC_NO_MEMORY;
    }
    TIFFOpenOptionsFree(options);
    // libtiff omits parts that it has no memory for, and reports that without failing.
    if (strstr(call->message, "emory") != NULL || strstr(call->message, "o space") != NULL) {
        return HALCYON_CODEC_NO_MEMORY;
    }
    if (status == HALCYON_CODEC_DAMAGED && call->message[0] == 0) halcyon_set_message(call, "libtiff cannot read it");
    return status;
}
