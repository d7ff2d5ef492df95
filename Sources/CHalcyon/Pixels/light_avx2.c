// Linear light with AVX2. Channels are converted apart from each other, sixteen pixels at a time: a quotient and an alpha
// then serve three vectors without being spread, and no alpha passes through the curve.
#include "light_avx2.h"

#if defined(__x86_64__)

#include "light_curve.h"
#include "pixels_internal.h"

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2,fma")))

// The channels of sixteen pixels, each in 16 bits. Pixels are in the order 0-3, 8-11, 4-7, 12-15.
typedef struct {
    __m256i blue, green, red, alpha;
} planes;

// Sixteen pixels as they are stored.
typedef struct {
    __m256i low, high;
} sixteen;

AVX2 ALWAYS sixteen load_pixels(const uint8_t *pixels) {
    return (sixteen){_mm256_loadu_si256((const __m256i *)pixels), _mm256_loadu_si256((const __m256i *)pixels + 1)};
}

// Exchanges the rows and the columns of 4 x 4 bytes: pixels become channels, and channels pixels.
AVX2 ALWAYS __m256i transposed(__m256i bytes) {
    const __m256i order = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,  //
                                           0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm256_shuffle_epi8(bytes, order);
}

// Brings the bytes of each channel together: blue and green, and red and alpha.
AVX2 ALWAYS sixteen sorted(sixteen pixels) {
    __m256i low = transposed(pixels.low), high = transposed(pixels.high);
    return (sixteen){_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high)};
}

// Converts three channels side by side, since each is a longer chain than a processor looks ahead.
AVX2 ALWAYS void to_light(planes *p) {
    const __m256i knee = _mm256_set1_epi16(curve_knee), line = _mm256_set1_epi16(curve_line);
    __m256i value[3] = {p->blue, p->green, p->red}, light[3];
    static const int16_t steps[] = {curve_4, curve_3, curve_2, curve_1};
    for (int c = 0; c < 3; c++) light[c] = _mm256_mulhrs_epi16(value[c], _mm256_set1_epi16(curve_5));
    for (int i = 0; i < 4; i++) {
        const __m256i step = _mm256_set1_epi16(steps[i]);
        for (int c = 0; c < 3; c++) light[c] = _mm256_mulhrs_epi16(_mm256_add_epi16(light[c], step), value[c]);
    }
    for (int c = 0; c < 3; c++) {
        light[c] = _mm256_add_epi16(light[c], _mm256_set1_epi16(curve_0));
        __m256i dark = _mm256_mulhrs_epi16(value[c], line);
        light[c] = _mm256_blendv_epi8(dark, light[c], _mm256_cmpgt_epi16(value[c], knee));
    }
    p->blue = light[0];
    p->green = light[1];
    p->red = light[2];
}

AVX2 ALWAYS planes convert_opaque(sixteen pixels) {
    const __m256i zero = _mm256_setzero_si256();
    sixteen parts = sorted(pixels);
    planes p;
    p.blue = _mm256_srli_epi16(_mm256_unpacklo_epi8(zero, parts.low), 1);
    p.green = _mm256_srli_epi16(_mm256_unpackhi_epi8(zero, parts.low), 1);
    p.red = _mm256_srli_epi16(_mm256_unpacklo_epi8(zero, parts.high), 1);
    p.alpha = _mm256_set1_epi16(curve_full);
    to_light(&p);
    return p;
}

// The full value divided by the alphas of eight pixels, in parts of 65,536: for each four, the lower 16 bits and then the
// upper ones. Divided by an alpha of 0, it is anything, and then multiplied by that alpha.
AVX2 ALWAYS __m256i quotients(__m256i pixels) {
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                                           0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    __m256 alphas = _mm256_cvtepi32_ps(_mm256_srli_epi32(pixels, 24));
    __m256 exact = _mm256_div_ps(_mm256_set1_ps(curve_full * 65536.0f), alphas);
    return _mm256_shuffle_epi8(_mm256_cvtps_epi32(exact), order);
}

AVX2 ALWAYS __m256i divided(__m256i channel, __m256i whole, __m256i part) {
    __m256i value = _mm256_add_epi16(_mm256_mullo_epi16(channel, whole), _mm256_mulhi_epu16(channel, part));
    return _mm256_min_epu16(value, _mm256_set1_epi16(curve_full));
}

AVX2 ALWAYS planes convert_clear(sixteen pixels) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i low = quotients(pixels.low), high = quotients(pixels.high);
    __m256i part = _mm256_unpacklo_epi64(low, high), whole = _mm256_unpackhi_epi64(low, high);
    sixteen parts = sorted(pixels);
    planes p;
    p.blue = divided(_mm256_unpacklo_epi8(parts.low, zero), whole, part);
    p.green = divided(_mm256_unpackhi_epi8(parts.low, zero), whole, part);
    p.red = divided(_mm256_unpacklo_epi8(parts.high, zero), whole, part);
    to_light(&p);
    __m256i alpha = _mm256_srli_epi16(_mm256_unpackhi_epi8(parts.high, parts.high), 1);
    p.blue = _mm256_mulhrs_epi16(p.blue, alpha);
    p.green = _mm256_mulhrs_epi16(p.green, alpha);
    p.red = _mm256_mulhrs_epi16(p.red, alpha);
    p.alpha = _mm256_mulhrs_epi16(_mm256_set1_epi16(curve_full), alpha);
    return p;
}

AVX2 ALWAYS planes convert(sixteen pixels) {
    bool is_opaque = _mm256_testc_si256(_mm256_and_si256(pixels.low, pixels.high), _mm256_set1_epi32((int)0xFF000000));
    return is_opaque ? convert_opaque(pixels) : convert_clear(pixels);
}

// Stores two pixels at a place, and two behind the two after them.
AVX2 ALWAYS void put_line(float4 *line, __m256i four, int place) {
    _mm256_storeu_ps((float *)(line + place), _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(four))));
    __m256 next = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_extracti128_si256(four, 1)));
    _mm256_storeu_ps((float *)(line + place + 4), next);
}

AVX2 ALWAYS void put_lines(float4 *line, planes p) {
    __m256i left = _mm256_unpacklo_epi16(p.blue, p.green), right = _mm256_unpacklo_epi16(p.red, p.alpha);
    put_line(line, _mm256_unpacklo_epi32(left, right), 0);
    put_line(line, _mm256_unpackhi_epi32(left, right), 2);
    left = _mm256_unpackhi_epi16(p.blue, p.green);
    right = _mm256_unpackhi_epi16(p.red, p.alpha);
    put_line(line, _mm256_unpacklo_epi32(left, right), 8);
    put_line(line, _mm256_unpackhi_epi32(left, right), 10);
}

AVX2 void halcyon_light_row_avx2(const uint8_t *pixels, size_t count, float4 *line) {
    size_t x = 0;
    for (; x + 16 <= count; x += 16) put_lines(line + x, convert(load_pixels(pixels + x * 4)));
    if (x == count) return;
    uint8_t rest[64] = {0};
    float4 lights[16];
    memcpy(rest, pixels + x * 4, (count - x) * 4);
    put_lines(lights, convert(load_pixels(rest)));
    memcpy(line + x, lights, (count - x) * sizeof *lights);
}

// Fetches the next part of a row: the processor finds no order by itself in so many rows.
ALWAYS void prefetch(const uint8_t *part) {
    // Numbers, as the part may begin behind the last row, where nothing is read.
    uintptr_t next = (uintptr_t)part + light_pixels * 4;
    for (uintptr_t line = 0; line < light_pixels * 4; line += 64) __builtin_prefetch((const void *)(next + line));
}

AVX2 ALWAYS void put_pair(int16_t *block, planes upper, planes lower) {
    __m256i *eight = (__m256i *)block;
    // Side by side, as `_mm256_madd_epi16` takes them: a channel of the first eight pixels, then of the others.
    _mm256_store_si256(eight, _mm256_unpacklo_epi16(upper.blue, lower.blue));
    _mm256_store_si256(eight + 1, _mm256_unpacklo_epi16(upper.green, lower.green));
    _mm256_store_si256(eight + 2, _mm256_unpacklo_epi16(upper.red, lower.red));
    _mm256_store_si256(eight + 3, _mm256_unpacklo_epi16(upper.alpha, lower.alpha));
    _mm256_store_si256(eight + 4, _mm256_unpackhi_epi16(upper.blue, lower.blue));
    _mm256_store_si256(eight + 5, _mm256_unpackhi_epi16(upper.green, lower.green));
    _mm256_store_si256(eight + 6, _mm256_unpackhi_epi16(upper.red, lower.red));
    _mm256_store_si256(eight + 7, _mm256_unpackhi_epi16(upper.alpha, lower.alpha));
}

// Converts `count` pixels, a multiple of 16, of two rows.
AVX2 ALWAYS void block_pair(const uint8_t *upper, const uint8_t *lower, size_t count, int16_t *block) {
    const __m256i alpha = _mm256_set1_epi32((int)0xFF000000);
    __m256i all = alpha, any = _mm256_setzero_si256();
    for (size_t x = 0; x < count; x += 16) {
        sixteen u = load_pixels(upper + x * 4), l = load_pixels(lower + x * 4);
        all = _mm256_and_si256(_mm256_and_si256(all, _mm256_and_si256(u.low, u.high)), _mm256_and_si256(l.low, l.high));
        any = _mm256_or_si256(_mm256_or_si256(any, _mm256_or_si256(u.low, u.high)), _mm256_or_si256(l.low, l.high));
    }
    if (_mm256_testz_si256(any, alpha)) {
        memset(block, 0, count * 8 * sizeof *block);
    } else if (_mm256_testc_si256(all, alpha)) {
        for (size_t x = 0; x < count; x += 16) {
            planes first = convert_opaque(load_pixels(upper + x * 4));
            put_pair(block + x * 8, first, convert_opaque(load_pixels(lower + x * 4)));
        }
    } else {
        for (size_t x = 0; x < count; x += 16) {
            planes first = convert_clear(load_pixels(upper + x * 4));
            put_pair(block + x * 8, first, convert_clear(load_pixels(lower + x * 4)));
        }
    }
}

AVX2 void halcyon_light_block_avx2(const uint8_t *const *rows, size_t pairs, size_t from, size_t count, int16_t *block) {
    uint8_t rest[2][light_pixels * 4];
    size_t whole = (count + 15) / 16 * 16;
    if (count < whole) memset(rest, 0, sizeof rest);
    for (size_t i = 0; i < pairs; i++, block += light_pair) {
        const uint8_t *upper = rows[2 * i] + from * 4, *lower = rows[2 * i + 1] + from * 4;
        if (count < whole) {
            upper = memcpy(rest[0], upper, count * 4);
            lower = memcpy(rest[1], lower, count * 4);
        } else {
            prefetch(upper);
            prefetch(lower);
        }
        block_pair(upper, lower, whole, block);
    }
}

// Weighs eight times `vectors` channels.
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

AVX2 void halcyon_light_weigh_avx2(const int16_t *block, const int16_t *weights, size_t pairs, size_t count, bool begins,
                            int32_t *sums) {
    size_t x = 0;
    for (; x + 16 <= count; x += 16) weigh_vectors(block + x * 8, weights, pairs, begins, 8, sums + x * 4);
    for (; x < count; x += 8) weigh_vectors(block + x * 8, weights, pairs, begins, 4, sums + x * 4);
}

AVX2 void halcyon_light_finish_avx2(int32_t *sums, size_t count) {
    for (size_t x = 0; x < count; x += 8, sums += 32) {
        const __m256i *channels = (const __m256i *)sums;
        float *pixels = (float *)sums;
        __m256 blue = _mm256_cvtepi32_ps(_mm256_load_si256(channels));
        __m256 green = _mm256_cvtepi32_ps(_mm256_load_si256(channels + 1));
        __m256 red = _mm256_cvtepi32_ps(_mm256_load_si256(channels + 2));
        __m256 alpha = _mm256_cvtepi32_ps(_mm256_load_si256(channels + 3));
        // The pixels 0, 1, 4 and 5, then 2, 3, 6 and 7.
        for (int k = 0; k < 2; k++) {
            __m256d left = _mm256_castps_pd(k == 0 ? _mm256_unpacklo_ps(blue, green) : _mm256_unpackhi_ps(blue, green));
            __m256d right = _mm256_castps_pd(k == 0 ? _mm256_unpacklo_ps(red, alpha) : _mm256_unpackhi_ps(red, alpha));
            __m256 even = _mm256_castpd_ps(_mm256_unpacklo_pd(left, right));
            __m256 odd = _mm256_castpd_ps(_mm256_unpackhi_pd(left, right));
            _mm256_store_ps(pixels + 8 * k, _mm256_permute2f128_ps(even, odd, 0x20));
            _mm256_store_ps(pixels + 8 * k + 16, _mm256_permute2f128_ps(even, odd, 0x31));
        }
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

// The channels of eight pixels.
typedef struct {
    __m256 blue, green, red, alpha;
} floats;

AVX2 ALWAYS floats load_floats(const float4 *line, __m256 scale) {
    __m256 two[4];
    for (int k = 0; k < 4; k++) two[k] = _mm256_mul_ps(_mm256_loadu_ps((const float *)(line + 2 * k)), scale);
    // The pixels 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    __m256 a = _mm256_permute2f128_ps(two[0], two[2], 0x20), b = _mm256_permute2f128_ps(two[0], two[2], 0x31);
    __m256 c = _mm256_permute2f128_ps(two[1], two[3], 0x20), d = _mm256_permute2f128_ps(two[1], two[3], 0x31);
    __m256d even = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)), odd = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
    __m256d even_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
    __m256d odd_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
    floats f;
    f.blue = _mm256_castpd_ps(_mm256_unpacklo_pd(even, odd));
    f.green = _mm256_castpd_ps(_mm256_unpackhi_pd(even, odd));
    f.red = _mm256_castpd_ps(_mm256_unpacklo_pd(even_high, odd_high));
    f.alpha = _mm256_castpd_ps(_mm256_unpackhi_pd(even_high, odd_high));
    return f;
}

AVX2 ALWAYS void encode_opaque(floats *f) {
    f->blue = encode_avx2(f->blue);
    f->green = encode_avx2(f->green);
    f->red = encode_avx2(f->red);
    f->alpha = _mm256_set1_ps(255);
}

AVX2 ALWAYS void encode_clear(floats *f) {
    const __m256 one = _mm256_set1_ps(1), white = _mm256_set1_ps(255);
    __m256 shown = _mm256_cmp_ps(f->alpha, _mm256_set1_ps(ALPHA_LEAST), _CMP_GE_OQ);
    __m256 inverse = _mm256_and_ps(_mm256_div_ps(one, f->alpha), shown);
    __m256 share = _mm256_and_ps(_mm256_min_ps(f->alpha, one), shown);
    // No colour is above its alpha.
    f->blue = _mm256_mul_ps(_mm256_min_ps(encode_avx2(_mm256_mul_ps(f->blue, inverse)), white), share);
    f->green = _mm256_mul_ps(_mm256_min_ps(encode_avx2(_mm256_mul_ps(f->green, inverse)), white), share);
    f->red = _mm256_mul_ps(_mm256_min_ps(encode_avx2(_mm256_mul_ps(f->red, inverse)), white), share);
    f->alpha = _mm256_mul_ps(white, share);
}

AVX2 ALWAYS void store_eight(const float4 *line, __m256 scale, uint8_t *pixels) {
    floats f = load_floats(line, scale);
    __m256 error = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_sub_ps(f.alpha, _mm256_set1_ps(1)));
    bool is_opaque = _mm256_movemask_ps(_mm256_cmp_ps(error, _mm256_set1_ps(ALPHA_ERROR), _CMP_LT_OQ)) == 0xFF;
    if (is_opaque) {
        encode_opaque(&f);
    } else {
        encode_clear(&f);
    }
    __m256i left = _mm256_packs_epi32(_mm256_cvtps_epi32(f.blue), _mm256_cvtps_epi32(f.green));
    __m256i right = _mm256_packs_epi32(_mm256_cvtps_epi32(f.red), _mm256_cvtps_epi32(f.alpha));
    _mm256_storeu_si256((__m256i *)pixels, transposed(_mm256_packus_epi16(left, right)));
}

AVX2 void halcyon_light_store_avx2(const float4 *line, size_t count, float scale, uint8_t *pixels) {
    const __m256 scales = _mm256_set1_ps(scale);
    size_t x = 0;
    for (; x + 8 <= count; x += 8) store_eight(line + x, scales, pixels + x * 4);
    if (x == count) return;
    float4 rest[8] = {{0}};
    uint8_t eight[32];
    memcpy(rest, line + x, (count - x) * sizeof *rest);
    store_eight(rest, scales, eight);
    memcpy(pixels + x * 4, eight, (count - x) * 4);
}

#endif
