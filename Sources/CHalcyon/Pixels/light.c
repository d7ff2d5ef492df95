#include "light.h"
#include "light_avx2.h"
#include "light_curve.h"
#include "pixels_internal.h"

#include <math.h>
#include <string.h>

// MARK: For any processor

// Multiplies parts of 32,768 and rounds.
ALWAYS int32_t times(int32_t a, int32_t b) {
    return (a * b + 0x4000) >> 15;
}

ALWAYS int32_t curve(int32_t value) {
    if (value <= curve_knee) return times(value, curve_line);
    int32_t light = times(value, curve_5) + curve_4;
    light = times(light, value) + curve_3;
    light = times(light, value) + curve_2;
    light = times(light, value) + curve_1;
    return times(light, value) + curve_0;
}

// Converts a pixel. Whole numbers, as with AVX2, so that the results are equal, except that those of opaque pixels next to
// others may be one part less there.
ALWAYS void convert(const uint8_t *pixel, int16_t *light) {
    int32_t alpha = pixel[3];
    if (alpha == 255) {
        for (int c = 0; c < 4; c++) light[c] = (int16_t)curve(pixel[c] << 7);
        return;
    }
    int32_t weight = (alpha * 257) >> 1;
    // The quotient in parts of 65,536. No product is above twice the full value, unless a colour is above its alpha.
    uint32_t quotient = alpha == 0 ? 0 : (uint32_t)(curve_full * 65536.0f / (float)alpha);
    for (int c = 0; c < 3; c++) {
        uint16_t value = (uint16_t)(pixel[c] * (quotient >> 16) + ((pixel[c] * (quotient & 0xFFFF)) >> 16));
        light[c] = (int16_t)times(curve(value < curve_full ? value : curve_full), weight);
    }
    light[3] = (int16_t)times(curve_full, weight);
}

static void row_any(const uint8_t *pixels, size_t from, size_t count, float4 *line) {
    for (size_t x = from; x < count; x++) {
        int16_t light[4];
        convert(pixels + x * 4, light);
        line[x] = (float4){light[0], light[1], light[2], light[3]};
    }
}

static void block_any(const uint8_t *const *rows, size_t pairs, size_t from, size_t count, int16_t *block) {
    memset(block, 0, pairs * light_pair * sizeof *block);
    for (size_t row = 0; row < pairs * 2; row++) {
        int16_t *lights = block + row / 2 * light_pair + row % 2;
        for (size_t x = 0; x < count; x++) {
            int16_t light[4];
            convert(rows[row] + (from + x) * 4, light);
            for (size_t c = 0; c < 4; c++) lights[(x * 4 + c) * 2] = light[c];
        }
    }
}

static void weigh_any(const int16_t *block, const int16_t *weights, size_t pairs, size_t count, bool begins,
                      int32_t *sums) {
    if (begins) memset(sums, 0, count * 4 * sizeof *sums);
    for (size_t i = 0; i < pairs; i++, block += light_pair) {
        int32_t upper = weights[2 * i], lower = weights[2 * i + 1];
        for (size_t c = 0; c < count * 4; c++) sums[c] += block[2 * c] * upper + block[2 * c + 1] * lower;
    }
}

static void finish_any(int32_t *sums, size_t count) {
    for (size_t c = 0; c < count * 4; c++) {
        float value = (float)sums[c];
        memcpy(sums + c, &value, sizeof value);
    }
}

ALWAYS float smaller(float a, float b) {
    return a < b ? a : b;
}

ALWAYS float encode(float light) {
    static const float octaves[4][8] = {{OCTAVES_0}, {OCTAVES_1}, {OCTAVES_2}, {OCTAVES_3}};
    // Also for a NaN.
    if (!(light > 0)) return 0;
    light = light < LIGHT_END ? light : LIGHT_END;
    if (light < LIGHT_DARK) return smaller(light * DARK_SLOPE, light * KNEE_SLOPE + KNEE_START);
    uint32_t bits;
    memcpy(&bits, &light, sizeof bits);
    int i = (bits >> 23) & 7;
    return ((octaves[3][i] * light + octaves[2][i]) * light + octaves[1][i]) * light + octaves[0][i];
}

static void store_any(const float4 *line, size_t count, float scale, uint8_t *pixels) {
    for (size_t x = 0; x < count; x++, pixels += 4) {
        float4 value = line[x] * scale;
        float alpha = value[3];
        bool is_opaque = fabsf(alpha - 1) < ALPHA_ERROR;
        if (!is_opaque) value *= alpha >= ALPHA_LEAST ? 1 / alpha : 0;
        float share = is_opaque ? 1 : alpha >= ALPHA_LEAST ? smaller(alpha, 1) : 0;
        // No colour is above its alpha.
        for (int c = 0; c < 3; c++) pixels[c] = (uint8_t)(smaller(encode(value[c]), 255) * share + 0.5f);
        pixels[3] = (uint8_t)(255 * share + 0.5f);
    }
}

// MARK: -

#if defined(__x86_64__)
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

void halcyon_light_row(const uint8_t *pixels, size_t count, float4 *line) {
#if defined(__x86_64__)
    if (has_avx2()) return halcyon_light_row_avx2(pixels, count, line);
#endif
    row_any(pixels, 0, count, line);
}

void halcyon_light_block(const uint8_t *const *rows, size_t pairs, size_t from, size_t count, int16_t *block) {
#if defined(__x86_64__)
    if (has_avx2()) return halcyon_light_block_avx2(rows, pairs, from, count, block);
#endif
    block_any(rows, pairs, from, count, block);
}

void halcyon_light_weigh(const int16_t *block, const int16_t *weights, size_t pairs, size_t count, bool begins,
                         int32_t *sums) {
#if defined(__x86_64__)
    if (has_avx2()) return halcyon_light_weigh_avx2(block, weights, pairs, count, begins, sums);
#endif
    weigh_any(block, weights, pairs, count, begins, sums);
}

float4 *halcyon_light_finish(int32_t *sums, size_t count) {
#if defined(__x86_64__)
    if (has_avx2()) {
        halcyon_light_finish_avx2(sums, count);
        return (float4 *)sums;
    }
#endif
    finish_any(sums, count);
    return (float4 *)sums;
}

void halcyon_light_store(const float4 *line, size_t count, float scale, uint8_t *pixels) {
#if defined(__x86_64__)
    if (has_avx2()) return halcyon_light_store_avx2(line, count, scale, pixels);
#endif
    store_any(line, count, scale, pixels);
}
