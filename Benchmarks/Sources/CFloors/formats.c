#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <avif/avif.h>
#include <jxl/decode.h>
#include <curl/curlver.h>
#include <gif_lib.h>
#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>

#include "floors.h"

bool bench_decode_png(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, data, size)) return false;
    image.format = PNG_FORMAT_BGRA;
    bool is_done = bench_make_bitmap(bitmap, (int)image.width, (int)image.height)
        && png_image_finish_read(&image, NULL, bitmap->pixels, 0, NULL);
    png_image_free(&image);
    if (!is_done) bench_free_bitmap(bitmap);
    return is_done;
}

typedef struct {
    const uint8_t *data;
    size_t left;
} png_source;

static void read_png(png_structp png, png_bytep bytes, size_t count) {
    png_source *source = png_get_io_ptr(png);
    if (count > source->left) png_error(png, "cut off");
    memcpy(bytes, source->data, count);
    source->data += count;
    source->left -= count;
}

bool bench_decode_deep_png(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    png_source source = {data, size};
    volatile bool is_done = false;
    if (info != NULL && !setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, &source, read_png);
        png_read_info(png, info);
        int width = (int)png_get_image_width(png, info), height = (int)png_get_image_height(png, info);
        png_set_swap(png);
        png_set_add_alpha(png, 0xFFFF, PNG_FILLER_AFTER);
        png_read_update_info(png, info);
        if (png_get_rowbytes(png, info) == (size_t)width * 8 && bench_make_bitmap(bitmap, width * 2, height)) {
            for (int y = 0; y < height; y++) png_read_row(png, bitmap->pixels + (size_t)y * (size_t)width * 8, NULL);
            png_read_end(png, NULL);
            is_done = true;
        }
    }
    png_destroy_read_struct(&png, &info, NULL);
    if (!is_done) bench_free_bitmap(bitmap);
    return is_done;
}

bool bench_decode_webp(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    int width = 0;
    int height = 0;
    if (!WebPGetInfo(data, size, &width, &height) || !bench_make_bitmap(bitmap, width, height)) return false;
    if (WebPDecodeBGRAInto(data, size, bitmap->pixels, bitmap->capacity, width * 4) != NULL) return true;
    bench_free_bitmap(bitmap);
    return false;
}

bool bench_decode_webp_scaled(const uint8_t *data, size_t size, int fraction, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config) || WebPGetFeatures(data, size, &config.input) != VP8_STATUS_OK) return false;
    int width = config.input.width / fraction;
    int height = config.input.height / fraction;
    if (!bench_make_bitmap(bitmap, width, height)) return false;
    config.options.use_scaling = 1;
    config.options.scaled_width = width;
    config.options.scaled_height = height;
    config.output.colorspace = MODE_BGRA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = bitmap->pixels;
    config.output.u.RGBA.stride = width * 4;
    config.output.u.RGBA.size = bitmap->capacity;
    if (WebPDecode(data, size, &config) == VP8_STATUS_OK) return true;
    bench_free_bitmap(bitmap);
    return false;
}

static bool decode_avif(const uint8_t *data, size_t size, avifRGBFormat format, int bytes, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    avifDecoder *decoder = avifDecoderCreate();
    if (decoder == NULL) return false;
    decoder->maxThreads = 1;
    bool is_done = false;
    if (avifDecoderSetIOMemory(decoder, data, size) == AVIF_RESULT_OK && avifDecoderParse(decoder) == AVIF_RESULT_OK
        && avifDecoderNextImage(decoder) == AVIF_RESULT_OK) {
        avifRGBImage rgb;
        avifRGBImageSetDefaults(&rgb, decoder->image);
        rgb.format = format;
        rgb.depth = (uint32_t)bytes * 8;
        if (bench_make_bitmap(bitmap, (int)rgb.width * bytes, (int)rgb.height)) {
            rgb.pixels = bitmap->pixels;
            rgb.rowBytes = rgb.width * 4 * (uint32_t)bytes;
            is_done = avifImageYUVToRGB(decoder->image, &rgb) == AVIF_RESULT_OK;
        }
    }
    avifDecoderDestroy(decoder);
    if (!is_done) bench_free_bitmap(bitmap);
    return is_done;
}

bool bench_decode_avif(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    return decode_avif(data, size, AVIF_RGB_FORMAT_BGRA, 1, bitmap);
}

bool bench_decode_deep_avif(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    return decode_avif(data, size, AVIF_RGB_FORMAT_RGBA, 2, bitmap);
}

bool bench_decode_jxl(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    if (decoder == NULL) return false;
    JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE);
    JxlDecoderSetInput(decoder, data, size);
    JxlDecoderCloseInput(decoder);
    JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlBasicInfo info;
    JxlDecoderStatus status;
    while ((status = JxlDecoderProcessInput(decoder)) != JXL_DEC_FULL_IMAGE) {
        if (status == JXL_DEC_BASIC_INFO && JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS) continue;
        if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER) break;
        if (!bench_make_bitmap(bitmap, (int)info.xsize, (int)info.ysize)) break;
        JxlDecoderSetImageOutBuffer(decoder, &format, bitmap->pixels, bitmap->capacity);
    }
    JxlDecoderDestroy(decoder);
    if (status != JXL_DEC_FULL_IMAGE) bench_free_bitmap(bitmap);
    return status == JXL_DEC_FULL_IMAGE;
}

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

const char *bench_library_versions(void) {
    static char text[240];
    int webp = WebPGetDecoderVersion();
    snprintf(text, sizeof text, "libjpeg-turbo %s, libpng %s, libwebp %d.%d.%d, giflib %d.%d.%d, libavif %s, libjxl %u, libcurl %s",
             TEXT(LIBJPEG_TURBO_VERSION), PNG_LIBPNG_VER_STRING, webp >> 16, webp >> 8 & 255, webp & 255, GIFLIB_MAJOR,
             GIFLIB_MINOR, GIFLIB_RELEASE, avifVersion(), JxlDecoderVersion(), LIBCURL_VERSION);
    return text;
}
