// The two inner loops of a scaling.
#ifndef HALCYON_RESAMPLE_KERNELS_H
#define HALCYON_RESAMPLE_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float float4 __attribute__((vector_size(16)));

// Loads the channels of a pixel.
static inline float4 load(const uint8_t *pixel) {
    uint8_t bytes __attribute__((vector_size(4)));
    memcpy(&bytes, pixel, 4);
    return __builtin_convertvector(bytes, float4);
}

// The source pixels that make one result pixel, and their weights.
typedef struct {
    int first;
    int count;
    const float *weights;
} taps;

// Weighs `count` rows of bytes into one row of pixels. The weights are in parts of 16,384, and their number is even:
// an odd number is followed by a zero weight, with an arbitrary row.
void halcyon_weigh_rows(const uint8_t *const *rows, const int16_t *weights, size_t count, float4 *line, size_t width);

// Weighs the pixels of a line. The memory after its last pixel must have room for another one.
void halcyon_weigh_line(const float4 *line, float4 *result, const taps *items, size_t width);

#endif
