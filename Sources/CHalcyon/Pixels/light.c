#include "light.h"
#include "light_curve.h"
#include "pixels_internal.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
    for (int c = 0; c < 4; c++) {
        uint16_t value = (uint16_t)(pixel[c] * (quotient >> 16) + ((pixel[c] * (quotient & 0xFFFF)) >> 16));
        light[c] = (int16_t)times(curve(value < curve_full ? value : curve_full), weight);
    }
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
    light = light < LIGHT_END ? light : LIGHT_END;
    // Also false for what is no number.
    if (!(light > 0)) return 0;
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
        // No colour is above its alpha.
        float most = is_opaque ? 255 : encode(value[3]), share = is_opaque ? 1 : smaller(alpha, 1);
        for (int c = 0; c < 4; c++) pixels[c] = (uint8_t)(smaller(encode(value[c]), most) * share + 0.5f);
    }
}

#if defined(__x86_64__)

// MARK: With AVX2

#define AVX2 __attribute__((target("avx2,fma")))

AVX2 ALWAYS __m256i curve_avx2(__m256i value) {
    __m256i line = _mm256_mulhrs_epi16(value, _mm256_set1_epi16(curve_line));
    __m256i light = _mm256_add_epi16(_mm256_mulhrs_epi16(value, _mm256_set1_epi16(curve_5)), _mm256_set1_epi16(curve_4));
    light = _mm256_add_epi16(_mm256_mulhrs_epi16(light, value), _mm256_set1_epi16(curve_3));
    light = _mm256_add_epi16(_mm256_mulhrs_epi16(light, value), _mm256_set1_epi16(curve_2));
    light = _mm256_add_epi16(_mm256_mulhrs_epi16(light, value), _mm256_set1_epi16(curve_1));
    light = _mm256_add_epi16(_mm256_mulhrs_epi16(light, value), _mm256_set1_epi16(curve_0));
    return _mm256_blendv_epi8(line, light, _mm256_cmpgt_epi16(value, _mm256_set1_epi16(curve_knee)));
}

AVX2 ALWAYS __m256i convert_opaque(__m128i pixels) {
    return curve_avx2(_mm256_slli_epi16(_mm256_cvtepu8_epi16(pixels), 7));
}

// Repeats two bytes of each of four groups of four, beginning with the byte `b` and the byte `c`.
#define SPREAD(b, c)                                                                                                  \
    _mm256_setr_epi8(b, c, b, c, b, c, b, c, b + 4, c + 4, b + 4, c + 4, b + 4, c + 4, b + 4, c + 4, b + 8, c + 8,    \
                     b + 8, c + 8, b + 8, c + 8, b + 8, c + 8, b + 12, c + 12, b + 12, c + 12, b + 12, c + 12, b + 12, \
                     c + 12)

// Converts four pixels with their quotients.
AVX2 ALWAYS __m256i convert_clear(__m128i pixels, __m128i quotients) {
    __m256i channels = _mm256_cvtepu8_epi16(pixels), both = _mm256_broadcastsi128_si256(quotients);
    __m256i whole = _mm256_mullo_epi16(channels, _mm256_shuffle_epi8(both, SPREAD(2, 3)));
    __m256i part = _mm256_mulhi_epu16(channels, _mm256_shuffle_epi8(both, SPREAD(0, 1)));
    __m256i value = _mm256_min_epu16(_mm256_add_epi16(whole, part), _mm256_set1_epi16(curve_full));
    __m256i alphas = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(pixels), SPREAD(3, 3));
    return _mm256_mulhrs_epi16(curve_avx2(value), _mm256_srli_epi16(alphas, 1));
}

// Converts four pixels of two rows.
AVX2 ALWAYS void convert_avx2(__m128i upper, __m128i lower, __m256i *first, __m256i *second) {
    const __m128i alpha = _mm_set1_epi32((int)0xFF000000);
    if (_mm_testc_si128(_mm_and_si128(upper, lower), alpha)) {
        *first = convert_opaque(upper);
        *second = convert_opaque(lower);
    } else if (_mm_testz_si128(_mm_or_si128(upper, lower), alpha)) {
        *first = *second = _mm256_setzero_si256();
    } else {
        __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(upper), lower, 1);
        __m256 alphas = _mm256_cvtepi32_ps(_mm256_srli_epi32(both, 24));
        // Divided by an alpha of 0, it is anything, and then multiplied by that alpha.
        __m256i quotients = _mm256_cvtps_epi32(_mm256_div_ps(_mm256_set1_ps(curve_full * 65536.0f), alphas));
        *first = convert_clear(upper, _mm256_castsi256_si128(quotients));
        *second = convert_clear(lower, _mm256_extracti128_si256(quotients, 1));
    }
}

AVX2 ALWAYS void put_line(float4 *line, __m256i lights) {
    __m256i left = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(lights));
    __m256i right = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(lights, 1));
    _mm256_storeu_ps((float *)line, _mm256_cvtepi32_ps(left));
    _mm256_storeu_ps((float *)(line + 2), _mm256_cvtepi32_ps(right));
}

AVX2 static void row_avx2(const uint8_t *pixels, size_t count, float4 *line) {
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        const __m128i *eight = (const __m128i *)(pixels + x * 4);
        __m256i left, right;
        convert_avx2(_mm_loadu_si128(eight), _mm_loadu_si128(eight + 1), &left, &right);
        put_line(line + x, left);
        put_line(line + x + 4, right);
    }
    row_any(pixels, x, count, line);
}

AVX2 ALWAYS void convert_pair(const void *upper, const void *lower, int16_t *block) {
    __m256i first, second;
    convert_avx2(_mm_loadu_si128(upper), _mm_loadu_si128(lower), &first, &second);
    // Side by side, as `_mm256_madd_epi16` takes them: pixels 0 and 2, then 1 and 3.
    _mm256_store_si256((__m256i *)block, _mm256_unpacklo_epi16(first, second));
    _mm256_store_si256((__m256i *)block + 1, _mm256_unpackhi_epi16(first, second));
}

// Fetches the next part of a row: the processor finds no order by itself in so many rows.
ALWAYS void prefetch(const uint8_t *part) {
    // Numbers, as the part may begin behind the last row, where nothing is read.
    uintptr_t next = (uintptr_t)part + light_pixels * 4;
    for (uintptr_t line = 0; line < light_pixels * 4; line += 64) __builtin_prefetch((const void *)(next + line));
}

AVX2 static void block_avx2(const uint8_t *const *rows, size_t pairs, size_t from, size_t count, int16_t *block) {
    for (size_t i = 0; i < pairs; i++, block += light_pair) {
        const uint8_t *upper = rows[2 * i] + from * 4, *lower = rows[2 * i + 1] + from * 4;
        prefetch(upper);
        prefetch(lower);
        size_t x = 0;
        for (; x + 4 <= count; x += 4) convert_pair(upper + x * 4, lower + x * 4, block + x * 8);
        if (x == count) continue;
        uint8_t rest[32] = {0};
        memcpy(rest, upper + x * 4, (count - x) * 4);
        memcpy(rest + 16, lower + x * 4, (count - x) * 4);
        convert_pair(rest, rest + 16, block + x * 8);
    }
}

// Weighs four times `vectors` channels.
AVX2 ALWAYS void weigh_vectors(const int16_t *block, const int16_t *weights, size_t pairs, bool begins, int vectors,
                               int32_t *sums) {
    __m256i parts[8], *whole = (__m256i *)sums;
    for (int k = 0; k < vectors; k++) parts[k] = begins ? _mm256_setzero_si256() : _mm256_load_si256(whole + k);
    for (size_t i = 0; i < pairs; i++, block += light_pair) {
        int32_t two;
        memcpy(&two, weights + 2 * i, 4);
        const __m256i pair = _mm256_set1_epi32(two), *lights = (const __m256i *)block;
        for (int k = 0; k < vectors; k++) {
            parts[k] = _mm256_add_epi32(parts[k], _mm256_madd_epi16(_mm256_load_si256(lights + k), pair));
        }
    }
    for (int k = 0; k < vectors; k++) _mm256_store_si256(whole + k, parts[k]);
}

AVX2 static void weigh_avx2(const int16_t *block, const int16_t *weights, size_t pairs, size_t count, bool begins,
                            int32_t *sums) {
    size_t x = 0;
    for (; x + 16 <= count; x += 16) weigh_vectors(block + x * 8, weights, pairs, begins, 8, sums + x * 4);
    for (; x < count; x += 4) weigh_vectors(block + x * 8, weights, pairs, begins, 2, sums + x * 4);
}

AVX2 static void finish_avx2(int32_t *sums, size_t count) {
    for (size_t x = 0; x < count; x += 4, sums += 16) {
        __m256i even = _mm256_load_si256((const __m256i *)sums), odd = _mm256_load_si256((const __m256i *)sums + 1);
        _mm256_store_ps((float *)sums, _mm256_cvtepi32_ps(_mm256_permute2x128_si256(even, odd, 0x20)));
        _mm256_store_ps((float *)sums + 8, _mm256_cvtepi32_ps(_mm256_permute2x128_si256(even, odd, 0x31)));
    }
}

AVX2 ALWAYS __m256 encode_avx2(__m256 light) {
    // NaN becomes 0, by the order of the operands.
    light = _mm256_min_ps(_mm256_max_ps(light, _mm256_setzero_ps()), _mm256_set1_ps(LIGHT_END));
    // Only the lowest three bits of an index count.
    const __m256i octave = _mm256_srli_epi32(_mm256_castps_si256(light), 23);
    __m256 cubic = _mm256_permutevar8x32_ps(_mm256_setr_ps(OCTAVES_3), octave);
    cubic = _mm256_fmadd_ps(light, cubic, _mm256_permutevar8x32_ps(_mm256_setr_ps(OCTAVES_2), octave));
    cubic = _mm256_fmadd_ps(light, cubic, _mm256_permutevar8x32_ps(_mm256_setr_ps(OCTAVES_1), octave));
    cubic = _mm256_fmadd_ps(light, cubic, _mm256_permutevar8x32_ps(_mm256_setr_ps(OCTAVES_0), octave));
    __m256 dark = _mm256_min_ps(_mm256_mul_ps(light, _mm256_set1_ps(DARK_SLOPE)),
                                _mm256_fmadd_ps(light, _mm256_set1_ps(KNEE_SLOPE), _mm256_set1_ps(KNEE_START)));
    return _mm256_blendv_ps(cubic, dark, _mm256_cmp_ps(light, _mm256_set1_ps(LIGHT_DARK), _CMP_LT_OQ));
}

// Encodes two pixels of any alpha.
AVX2 ALWAYS __m256 encode_clear(__m256 value) {
    __m256 alpha = _mm256_permute_ps(value, 0xFF);
    __m256 shown = _mm256_cmp_ps(alpha, _mm256_set1_ps(ALPHA_LEAST), _CMP_GE_OQ);
    __m256 encoded = encode_avx2(_mm256_and_ps(_mm256_div_ps(value, alpha), shown));
    // No colour is above its alpha.
    encoded = _mm256_min_ps(encoded, _mm256_permute_ps(encoded, 0xFF));
    return _mm256_mul_ps(encoded, _mm256_min_ps(alpha, _mm256_set1_ps(1)));
}

AVX2 ALWAYS void store_four(const float4 *line, __m256 scale, uint8_t *pixels) {
    __m256 left = _mm256_mul_ps(_mm256_loadu_ps((const float *)line), scale);
    __m256 right = _mm256_mul_ps(_mm256_loadu_ps((const float *)(line + 2)), scale);
    __m256 error = _mm256_sub_ps(_mm256_shuffle_ps(left, right, 0xFF), _mm256_set1_ps(1));
    error = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), error);
    if (_mm256_movemask_ps(_mm256_cmp_ps(error, _mm256_set1_ps(ALPHA_ERROR), _CMP_LT_OQ)) == 0xFF) {
        left = encode_avx2(left);
        right = encode_avx2(right);
    } else {
        left = encode_clear(left);
        right = encode_clear(right);
    }
    // Pixels 0, 2, 1 and 3.
    __m256i words = _mm256_packs_epi32(_mm256_cvtps_epi32(left), _mm256_cvtps_epi32(right));
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128((__m128i *)pixels, _mm_shuffle_epi32(bytes, 0xD8));
}

AVX2 static void store_avx2(const float4 *line, size_t count, float scale, uint8_t *pixels) {
    const __m256 scales = _mm256_set1_ps(scale);
    size_t x = 0;
    for (; x + 4 <= count; x += 4) store_four(line + x, scales, pixels + x * 4);
    if (x == count) return;
    float4 rest[4] = {{0}};
    uint8_t four[16];
    memcpy(rest, line + x, (count - x) * sizeof *rest);
    store_four(rest, scales, four);
    memcpy(pixels + x * 4, four, (count - x) * 4);
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#endif

// MARK: -

void halcyon_light_row(const uint8_t *pixels, size_t count, float4 *line) {
#if defined(__x86_64__)
    if (has_avx2()) return row_avx2(pixels, count, line);
#endif
    row_any(pixels, 0, count, line);
}

void halcyon_light_block(const uint8_t *const *rows, size_t pairs, size_t from, size_t count, int16_t *block) {
#if defined(__x86_64__)
    if (has_avx2()) return block_avx2(rows, pairs, from, count, block);
#endif
    block_any(rows, pairs, from, count, block);
}

void halcyon_light_weigh(const int16_t *block, const int16_t *weights, size_t pairs, size_t count, bool begins,
                         int32_t *sums) {
#if defined(__x86_64__)
    if (has_avx2()) return weigh_avx2(block, weights, pairs, count, begins, sums);
#endif
    weigh_any(block, weights, pairs, count, begins, sums);
}

float4 *halcyon_light_finish(int32_t *sums, size_t count) {
#if defined(__x86_64__)
    if (has_avx2()) {
        finish_avx2(sums, count);
        return (float4 *)sums;
    }
#endif
    finish_any(sums, count);
    return (float4 *)sums;
}

void halcyon_light_store(const float4 *line, size_t count, float scale, uint8_t *pixels) {
#if defined(__x86_64__)
    if (has_avx2()) return store_avx2(line, count, scale, pixels);
#endif
    store_any(line, count, scale, pixels);
}
