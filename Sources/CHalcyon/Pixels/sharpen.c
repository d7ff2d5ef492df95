#include "halcyon_pixels.h"

#include <string.h>

static inline uint8_t byte(float value, float most) {
    value = value < 0 ? 0 : value > most ? most : value;
    return (uint8_t)(value + 0.5f);
}

// Sharpens a row in place of `blurred`, which is in the result's memory.
static void sharpen_row(const uint8_t *in, uint8_t *blurred, size_t width, float amount) {
    for (size_t x = 0; x < width * 4; x += 4) {
        // A pixel that is darker only because its alpha is lower must not count as a darker colour: both are compared
        // at the alpha of the source.
        float alpha = in[x + 3], around = blurred[x + 3];
        // If the surroundings are almost transparent, rounding has destroyed their colour, so it counts for less.
        float trust = around < 32 ? around / 32 : 1;
        float scale = around > 0 ? alpha / around : 0;
        for (size_t i = 0; i < 3; i++) {
            float value = in[x + i];
            blurred[x + i] = byte(value + amount * trust * (value - (float)blurred[x + i] * scale), alpha);
        }
        blurred[x + 3] = in[x + 3];
    }
}

halcyon_status halcyon_sharpen(halcyon_bitmap source, halcyon_bitmap result, double sigma, float amount,
                               halcyon_cancelled cancelled, void *context) {
    halcyon_status status = halcyon_blur(source, result, sigma, cancelled, context);
    for (int y = 0; y < source.height && status == HALCYON_OK; y++) {
        if ((y & 15) == 0 && cancelled && cancelled(context)) status = HALCYON_CANCELLED;
        sharpen_row(source.pixels + (size_t)y * source.stride, result.pixels + (size_t)y * result.stride,
                    (size_t)source.width, amount);
    }
    return status;
}
