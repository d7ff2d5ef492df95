// The functions of light.h for processors with AVX2 and FMA.
#ifndef HALCYON_LIGHT_AVX2_H
#define HALCYON_LIGHT_AVX2_H

#include "light.h"

#if defined(__x86_64__)

void halcyon_light_row_avx2(const uint8_t *pixels, size_t count, float4 *line);
void halcyon_light_block_avx2(const uint8_t *const *rows, size_t pairs, size_t from, size_t count, int16_t *block);
void halcyon_light_weigh_avx2(const int16_t *block, const int16_t *weights, size_t pairs, size_t count, bool begins,
                              int32_t *sums);
void halcyon_light_finish_avx2(int32_t *sums, size_t count);
void halcyon_light_store_avx2(const float4 *line, size_t count, float scale, uint8_t *pixels);

#endif

#endif
