#include <stdio.h>

#include <curl/curlver.h>
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

bool bench_decode_webp(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    int width = 0;
    int height = 0;
    if (!WebPGetInfo(data, size, &width, &height) || !bench_make_bitmap(bitmap, width, height)) return false;
    if (WebPDecodeBGRAInto(data, size, bitmap->pixels, bitmap->capacity, width * 4) != NULL) return true;
    bench_free_bitmap(bitmap);
    return false;
}

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

const char *bench_library_versions(void) {
    static char text[160];
    int webp = WebPGetDecoderVersion();
    snprintf(text, sizeof text, "libjpeg-turbo %s, libpng %s, libwebp %d.%d.%d, libcurl %s", TEXT(LIBJPEG_TURBO_VERSION),
             PNG_LIBPNG_VER_STRING, webp >> 16, webp >> 8 & 255, webp & 255, LIBCURL_VERSION);
    return text;
}
