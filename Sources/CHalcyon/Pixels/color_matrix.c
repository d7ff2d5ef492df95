// Colour matrices over eight pixels at a time, each channel in a vector of its own.
#include "halcyon_pixels.h"
#include "pixels_internal.h"

#include <string.h>

typedef uint32_t word8 __attribute__((vector_size(32)));
typedef int32_t int8x32 __attribute__((vector_size(32)));
typedef float float8 __attribute__((vector_size(32)));

#define FLOATS(words) __builtin_convertvector((int8x32)(words), float8)
#define WORDS(floats) ((word8)__builtin_convertvector((floats) + 0.5f, int8x32))

#define CLAMPED(value, most) __builtin_elementwise_min(__builtin_elementwise_max(value, (float8){0}), most)

// Transforms premultiplied colours: a bias is then a fraction of the alpha, and no division is needed.
ALWAYS void transform_premultiplied(word8 *in_place, const halcyon_color_matrix *m) {
    word8 pixels = *in_place;
    float8 b = FLOATS(pixels & 255), g = FLOATS((pixels >> 8) & 255), r = FLOATS((pixels >> 16) & 255);
    float8 a = FLOATS(pixels >> 24);
    float scale = m->rows[3][3];
    float8 alpha = a * scale;
    word8 out = WORDS(alpha) << 24;
    for (int i = 0; i < 3; i++) {
        const float *row = m->rows[i];
        float8 value = (r * row[0] + g * row[1] + b * row[2] + a * row[4]) * scale;
        out |= WORDS(CLAMPED(value, alpha)) << (16 - 8 * i);
    }
    *in_place = out;
}

ALWAYS void transform_straight(word8 *in_place, const halcyon_color_matrix *m) {
    word8 pixels = *in_place;
    float8 one = (float8){0} + 1;
    float8 a = FLOATS(pixels >> 24);
    // A transparent pixel has no colour; this avoids a division by zero.
    float8 scale = 1 / __builtin_elementwise_max(a, one);
    float8 b = FLOATS(pixels & 255) * scale, g = FLOATS((pixels >> 8) & 255) * scale;
    float8 r = FLOATS((pixels >> 16) & 255) * scale;
    a = a * (1 / 255.0f);
    float8 values[4];
    for (int i = 0; i < 4; i++) {
        const float *row = m->rows[i];
        float8 value = r * row[0] + g * row[1] + b * row[2] + a * row[3] + row[4];
        values[i] = CLAMPED(value, one);
    }
    float8 alpha = values[3] * 255;
    word8 out = WORDS(alpha) << 24;
    for (int i = 0; i < 3; i++) out |= WORDS(values[i] * alpha) << (16 - 8 * i);
    *in_place = out;
}

ALWAYS void transform_row(const uint8_t *in, uint8_t *out, long width, const halcyon_color_matrix *m) {
    for (long x = 0; x < width; x += 8) {
        word8 pixels = {0};
        size_t bytes = width - x < 8 ? (size_t)(width - x) * 4 : sizeof pixels;
        if (bytes == sizeof pixels) {
            memcpy(&pixels, in + x * 4, sizeof pixels);
        } else {
            memcpy(&pixels, in + x * 4, bytes);
        }
        if (m->is_separable) {
            transform_premultiplied(&pixels, m);
        } else {
            transform_straight(&pixels, m);
        }
        if (bytes == sizeof pixels) {
            memcpy(out + x * 4, &pixels, sizeof pixels);
        } else {
            memcpy(out + x * 4, &pixels, bytes);
        }
    }
}

VARIANTS(void, transform, (const uint8_t *in, uint8_t *out, long width, const halcyon_color_matrix *m),
         transform_row(in, out, width, m))

halcyon_status halcyon_transform_colors(halcyon_bitmap source, halcyon_bitmap result, const halcyon_color_matrix *matrix,
                                        halcyon_cancelled cancelled, void *context) {
    for (long y = 0; y < source.height; y++) {
        if ((y & 15) == 0 && cancelled && cancelled(context)) return HALCYON_CANCELLED;
        VARIANT(transform)(source.pixels + (size_t)y * source.stride, result.pixels + (size_t)y * result.stride,
                           source.width, matrix);
    }
    return HALCYON_OK;
}
