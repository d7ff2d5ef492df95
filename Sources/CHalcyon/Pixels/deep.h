// Pixels of 16 bits a channel as floats, and their light, for the files that share them.
#ifndef HALCYON_DEEP_INTERNAL_H
#define HALCYON_DEEP_INTERNAL_H

#include <math.h>
#include <string.h>

#include "halcyon_deep.h"
#include "resample_kernels.h"

// The largest half.
static const float most_half = 65504;

static inline float float_of_half(uint16_t half) {
    uint32_t rest = (uint32_t)(half & 0x7FFF) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    float value;
    memcpy(&value, &rest, 4);
    // Moves the exponent, also that of numbers without a leading one.
    value *= 0x1p112f;
    // Infinity becomes the largest number, and what is not a number 0.
    if ((half & 0x7C00) == 0x7C00) value = half & 0x3FF ? 0 : most_half;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    bits |= sign;
    memcpy(&value, &bits, 4);
    return value;
}

static inline uint16_t half_of_float(float value) {
    if (!(value == value)) return 0;
    value = fminf(fmaxf(value, -most_half), most_half);
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7FFFFFFF;
    if (bits < 0x38800000) {
        // The sum has steps of the smallest half.
        float sum;
        memcpy(&sum, &bits, 4);
        sum += 0.5f;
        memcpy(&bits, &sum, 4);
        return (uint16_t)(sign | (bits - 0x3F000000));
    }
    bits += 0xFFF + (bits >> 13 & 1);
    return (uint16_t)(sign | ((bits - 0x38000000) >> 13));
}

static inline float4 load_words(const uint16_t *pixel, halcyon_channels channels) {
    if (channels == HALCYON_CHANNELS_FLOAT16) {
        return (float4){float_of_half(pixel[0]), float_of_half(pixel[1]), float_of_half(pixel[2]), float_of_half(pixel[3])};
    }
    return (float4){pixel[0], pixel[1], pixel[2], pixel[3]};
}

// The value of a full channel as it is loaded.
static inline float full_value(halcyon_channels channels) { return channels == HALCYON_CHANNELS_FLOAT16 ? 1 : 65535; }

// Stores a premultiplied pixel whose full channel is `full_value`. Integers are rounded and no larger than their alpha.
static inline void store_words(uint16_t *pixel, float4 value, halcyon_channels channels) {
    float alpha = fminf(fmaxf(value[3], 0), full_value(channels));
    for (int i = 0; i < 3; i++) {
        if (channels == HALCYON_CHANNELS_FLOAT16) {
            pixel[i] = alpha > 0 ? half_of_float(value[i]) : 0;
        } else {
            pixel[i] = (uint16_t)(fminf(fmaxf(value[i], 0), alpha) + 0.5f);
        }
    }
    pixel[3] = channels == HALCYON_CHANNELS_FLOAT16 ? half_of_float(alpha) : (uint16_t)(alpha + 0.5f);
}

// The light of an encoded value by a curve alone: of HLG, that of the scene. Negative values are the light of their amount.
double halcyon_light_of(double value, halcyon_transfer transfer);
// The value of light, which for PQ and HLG is from 0 to 1.
float halcyon_value_of(float light, halcyon_transfer transfer);

// From so many pixels on, the light of each word is computed once.
enum { least_for_table = 1 << 16 };
// Makes the light of each word; NULL if there is no memory, without which each pixel is computed.
float *halcyon_light_table(halcyon_channels channels, halcyon_transfer transfer);

// Loads pixels, as light if there is a table or `is_light` is set.
void halcyon_deep_load_row(const halcyon_deep_pixels *pixels, bool is_light, const float *table, const uint16_t *row,
                           size_t count, float4 *line);
void halcyon_deep_store_row(const halcyon_deep_pixels *pixels, bool is_light, const float4 *line, size_t count, uint16_t *row);

#endif
