// Pixels of 16 bits a channel: their types, and rows of them for a scaling.
#include "deep.h"

float halcyon_half_to_float(uint16_t half) { return float_of_half(half); }

uint16_t halcyon_float_to_half(float value) { return half_of_float(value); }

void halcyon_deep_widen(const uint8_t *bgra, uint16_t *words, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, bgra += 4, words += 4) {
        words[0] = (uint16_t)(bgra[2] * 257);
        words[1] = (uint16_t)(bgra[1] * 257);
        words[2] = (uint16_t)(bgra[0] * 257);
        words[3] = (uint16_t)(bgra[3] * 257);
    }
}

void halcyon_deep_divide(const uint16_t *words, uint16_t *result, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, words += 4, result += 4) {
        float alpha = float_of_half(words[3]);
        for (int channel = 0; channel < 3; channel++) {
            result[channel] = alpha > 0 ? half_of_float(float_of_half(words[channel]) / alpha) : 0;
        }
        result[3] = words[3];
    }
}

void halcyon_deep_leave_out_alpha(const uint16_t *words, uint16_t *rgb, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) memcpy(rgb + i * 3, words + i * 4, 6);
}

static uint8_t byte_of(uint16_t word) { return (uint8_t)((word * 255u + 32767u) / 65535u); }

void halcyon_deep_narrow(const uint16_t *words, uint8_t *bgra, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, bgra += 4, words += 4) {
        uint8_t red = byte_of(words[0]), green = byte_of(words[1]), blue = byte_of(words[2]), alpha = byte_of(words[3]);
        bgra[0] = blue;
        bgra[1] = green;
        bgra[2] = red;
        bgra[3] = alpha;
    }
}

void halcyon_deep_make_opaque(uint16_t *words, halcyon_channels channels, size_t pixels) {
    uint16_t full = channels == HALCYON_CHANNELS_FLOAT16 ? 0x3C00 : 65535;
    for (size_t i = 0; i < pixels; i++) words[i * 4 + 3] = full;
}

void halcyon_deep_expand(const uint8_t *rgba, int bits, uint16_t *words, size_t pixels) {
    uint32_t top = (1u << bits) - 1;
    for (size_t i = 0; i < pixels * 4; i++) {
        uint32_t value = rgba[i * 2] | (uint32_t)rgba[i * 2 + 1] << 8;
        words[i] = (uint16_t)(((value < top ? value : top) * 65535u + top / 2) / top);
    }
}

bool halcyon_deep_is_opaque(const uint16_t *words, halcyon_channels channels, size_t pixels) {
    uint16_t full = channels == HALCYON_CHANNELS_FLOAT16 ? 0x3C00 : 65535;
    for (size_t i = 0; i < pixels; i++) {
        if (words[i * 4 + 3] != full) return false;
    }
    return true;
}

void halcyon_deep_load_row(const halcyon_deep_pixels *pixels, bool is_light, const float *table, const uint16_t *row,
                           size_t count, float4 *line) {
    float full = full_value(pixels->channels), unit = 1 / full;
    for (size_t x = 0; x < count; x++) {
        const uint16_t *words = row + x * 4;
        float4 value = load_words(words, pixels->channels);
        if (table != NULL && value[3] == full) {
            value = (float4){table[words[0]], table[words[1]], table[words[2]], 1};
        } else if (is_light) {
            float alpha = value[3] * unit;
            for (int i = 0; i < 3; i++) {
                double straight = alpha > 0 ? (double)(value[i] * unit) / (double)alpha : 0;
                value[i] = (float)halcyon_light_of(straight, pixels->transfer) * alpha;
            }
            value[3] = alpha;
        }
        line[x] = value;
    }
}

void halcyon_deep_store_row(const halcyon_deep_pixels *pixels, bool is_light, const float4 *line, size_t count,
                            uint16_t *row) {
    float full = full_value(pixels->channels);
    for (size_t x = 0; x < count; x++) {
        float4 value = line[x];
        if (is_light) {
            float alpha = fminf(fmaxf(value[3], 0), 1);
            for (int i = 0; i < 3; i++) {
                float light = alpha > 0 ? value[i] / alpha : 0;
                value[i] = halcyon_value_of(light, pixels->transfer) * alpha * full;
            }
            value[3] = alpha * full;
        }
        store_words(row + x * 4, value, pixels->channels);
    }
}
