// Pixels in the layouts of other programs.
#include "halcyon_pixels.h"

#include <string.h>

static uint8_t unpremultiplied(uint32_t value, uint32_t alpha) {
    uint32_t result = (value * 255 + alpha / 2) / alpha;
    // A channel above its alpha is not a valid pixel, but a processor may have made one.
    return result > 255 ? 255 : (uint8_t)result;
}

void halcyon_unpremultiply(const uint8_t *bgra, uint8_t *result, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, bgra += 4, result += 4) {
        uint32_t alpha = bgra[3];
        if (alpha == 255) {
            memmove(result, bgra, 4);
        } else if (alpha == 0) {
            memset(result, 0, 4);
        } else {
            result[0] = unpremultiplied(bgra[0], alpha);
            result[1] = unpremultiplied(bgra[1], alpha);
            result[2] = unpremultiplied(bgra[2], alpha);
            result[3] = (uint8_t)alpha;
        }
    }
}

static void swap_red_and_blue(const uint8_t *pixels, size_t count, uint8_t *result) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel;
        memcpy(&pixel, pixels + i * 4, 4);
        pixel = (pixel & 0xFF00FF00) | (pixel >> 16 & 0xFF) | (pixel & 0xFF) << 16;
        memcpy(result + i * 4, &pixel, 4);
    }
}

/// A premultiplied channel over white, for which the alpha that is missing is added.
static uint32_t over_white(uint32_t channel, uint32_t alpha) {
    uint32_t result = channel + (255 - alpha);
    // A channel above its alpha is not a valid pixel, but a processor may have made one.
    return result > 255 ? 255 : result;
}

static void write_rgb(const uint8_t *pixels, size_t count, uint8_t *result) {
    for (size_t i = 0; i < count; i++, pixels += 4, result += 3) {
        uint32_t alpha = pixels[3];
        result[0] = (uint8_t)over_white(pixels[2], alpha);
        result[1] = (uint8_t)over_white(pixels[1], alpha);
        result[2] = (uint8_t)over_white(pixels[0], alpha);
    }
}

static void write_gray(const uint8_t *pixels, size_t count, uint8_t *result) {
    for (size_t i = 0; i < count; i++, pixels += 4) {
        uint32_t alpha = pixels[3];
        // 0.2126, 0.7152 and 0.0722 of 65,536, which is their sum, so that a grey stays as it is.
        uint32_t sum = over_white(pixels[2], alpha) * 13933 + over_white(pixels[1], alpha) * 46871 +
                       over_white(pixels[0], alpha) * 4732;
        result[i] = (uint8_t)((sum + 32768) >> 16);
    }
}

void halcyon_convert(const uint8_t *pixels, size_t count, halcyon_layout layout, uint8_t *result) {
    switch (layout) {
        case HALCYON_LAYOUT_BGRA_PREMULTIPLIED:
            memcpy(result, pixels, count * 4);
            break;
        case HALCYON_LAYOUT_BGRA:
            halcyon_unpremultiply(pixels, result, count);
            break;
        case HALCYON_LAYOUT_RGBA_PREMULTIPLIED:
            swap_red_and_blue(pixels, count, result);
            break;
        case HALCYON_LAYOUT_RGBA:
            halcyon_unpremultiply(pixels, result, count);
            swap_red_and_blue(result, count, result);
            break;
        case HALCYON_LAYOUT_RGB:
            write_rgb(pixels, count, result);
            break;
        case HALCYON_LAYOUT_GRAY:
            write_gray(pixels, count, result);
            break;
    }
}

bool halcyon_is_opaque(const uint8_t *bgra, size_t pixels) {
    // In chunks: small enough to leave early, and wide enough for vectors.
    while (pixels > 0) {
        size_t chunk = pixels < 1024 ? pixels : 1024;
        uint8_t all = 255;
        for (size_t i = 0; i < chunk; i++) all &= bgra[i * 4 + 3];
        if (all != 255) return false;
        bgra += chunk * 4;
        pixels -= chunk;
    }
    return true;
}
