#include "resample_kernels.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// MARK: For any processor

// Weighs the pixels from `from` on. Whole numbers, as with AVX2, so that the results are equal.
static void weigh_rows_any(const uint8_t *const *rows, const int16_t *weights, size_t count, float4 *line, size_t from,
                           size_t width) {
    for (size_t x = from; x < width; x++) {
        float4 sum = {0, 0, 0, 0};
        for (size_t i = 0; i < count; i++) sum += load(rows[i] + x * 4) * (float)weights[i];
        line[x] = sum * (1 / 16384.0f);
    }
}

static void weigh_line_any(const float4 *line, float4 *result, const taps *items, size_t width) {
    for (size_t x = 0; x < width; x++) {
        const float4 *pixels = line + items[x].first;
        const float *weights = items[x].weights;
        int count = items[x].count, j = 0;
        // Two sums, so that the additions do not depend on each other.
        float4 even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
        for (; j + 2 <= count; j += 2) {
            even += pixels[j] * weights[j];
            odd += pixels[j + 1] * weights[j + 1];
        }
        if (j < count) even += pixels[j] * weights[j];
        result[x] = even + odd;
    }
}

#if defined(__x86_64__)

// MARK: With AVX2

#define AVX2 __attribute__((target("avx2,fma")))

// Multiplies sixteen channels of two rows with a weight each, and adds them to the sums of 0-3 and 8-11 and of 4-7
// and 12-15.
AVX2 static inline void weigh_pair(const uint8_t *upper, const uint8_t *lower, __m256i weights, __m256i *low,
                                   __m256i *high) {
    __m256i a = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)upper));
    __m256i b = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)lower));
    *low = _mm256_add_epi32(*low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), weights));
    *high = _mm256_add_epi32(*high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), weights));
}

AVX2 static inline void store_sums(float *line, __m256i low, __m256i high) {
    const __m256 scale = _mm256_set1_ps(1 / 16384.0f);
    __m256i first = _mm256_permute2x128_si256(low, high, 0x20), second = _mm256_permute2x128_si256(low, high, 0x31);
    _mm256_storeu_ps(line, _mm256_mul_ps(_mm256_cvtepi32_ps(first), scale));
    _mm256_storeu_ps(line + 8, _mm256_mul_ps(_mm256_cvtepi32_ps(second), scale));
}

AVX2 static void weigh_rows_avx2(const uint8_t *const *rows, const int16_t *weights, size_t count, float4 *line,
                                 size_t width) {
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
        __m256i sums[8];
        for (int k = 0; k < 8; k++) sums[k] = _mm256_setzero_si256();
        for (size_t i = 0; i < count; i += 2) {
            int32_t two;
            memcpy(&two, weights + i, 4);
            const __m256i pair = _mm256_set1_epi32(two);
            const uint8_t *upper = rows[i] + x * 4, *lower = rows[i + 1] + x * 4;
            for (int k = 0; k < 4; k++) {
                weigh_pair(upper + 16 * k, lower + 16 * k, pair, &sums[2 * k], &sums[2 * k + 1]);
            }
        }
        for (int k = 0; k < 4; k++) store_sums((float *)(line + x + 4 * (size_t)k), sums[2 * k], sums[2 * k + 1]);
    }
    weigh_rows_any(rows, weights, count, line, x, width);
}

AVX2 static void weigh_line_avx2(const float4 *line, float4 *result, const taps *items, size_t width) {
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    for (size_t x = 0; x < width; x++) {
        const float *pixels = (const float *)(line + items[x].first), *weights = items[x].weights;
        int count = items[x].count, j = 0;
        __m256 sums[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
        for (; j + 4 <= count; j += 4) {
            __m256 four = _mm256_castps128_ps256(_mm_loadu_ps(weights + j));
            __m256 first = _mm256_permutevar8x32_ps(four, spread);
            __m256 second = _mm256_permutevar8x32_ps(four, _mm256_add_epi32(spread, _mm256_set1_epi32(2)));
            sums[0] = _mm256_fmadd_ps(_mm256_loadu_ps(pixels + j * 4), first, sums[0]);
            sums[1] = _mm256_fmadd_ps(_mm256_loadu_ps(pixels + j * 4 + 8), second, sums[1]);
        }
        __m256 sum = _mm256_add_ps(sums[0], sums[1]);
        __m128 all = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
        for (; j < count; j++) all = _mm_fmadd_ps(_mm_loadu_ps(pixels + j * 4), _mm_set1_ps(weights[j]), all);
        _mm_storeu_ps((float *)(result + x), all);
    }
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#endif

void halcyon_weigh_rows(const uint8_t *const *rows, const int16_t *weights, size_t count, float4 *line, size_t width) {
#if defined(__x86_64__)
    if (has_avx2()) return weigh_rows_avx2(rows, weights, count, line, width);
#endif
    weigh_rows_any(rows, weights, count, line, 0, width);
}

void halcyon_weigh_line(const float4 *line, float4 *result, const taps *items, size_t width) {
#if defined(__x86_64__)
    if (has_avx2()) return weigh_line_avx2(line, result, items, width);
#endif
    weigh_line_any(line, result, items, width);
}
