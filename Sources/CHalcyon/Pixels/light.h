// The way from bytes to linear light and back, for averages as light itself makes them.
//
// A channel of a row is in parts of `light_white`: a colour is the transfer function of IEC 61966-2-1 (sRGB), taken of the
// colour that is divided by its alpha, and multiplied with alpha again. An alpha is in proportion to its byte.
#ifndef HALCYON_LIGHT_H
#define HALCYON_LIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resample_kernels.h"

enum {
    // The value of a white channel. A weighted sum stays within 32 bits while the weights' absolute values add up to less
    // than 65,536.
    light_white = 32640,
    // The rows and the pixels of each that are converted and weighed at once: 8 KiB, which stay in the nearest cache.
    light_rows = 16,
    light_pixels = 64,
    // The channels of one pair of rows in a block.
    light_pair = light_pixels * 8,
};

// Converts `count` pixels of a row to floats.
void halcyon_light_row(const uint8_t *pixels, size_t count, float4 *line);

// Converts up to `light_pixels` pixels, from `from` on, of `pairs` pairs of rows to a block. Its order is only known to
// `halcyon_light_weigh` and `halcyon_light_finish`.
void halcyon_light_block(const uint8_t *const *rows, size_t pairs, size_t from, size_t count, int16_t *block);

// Weighs pairs of a block's rows, with two weights each, and adds the result to the sums of `count` pixels, a multiple of 8,
// or begins the sums with it.
void halcyon_light_weigh(const int16_t *block, const int16_t *weights, size_t pairs, size_t count, bool begins,
                         int32_t *sums);

// Makes floats of the sums of `count` pixels, a multiple of 8, in their place.
float4 *halcyon_light_finish(int32_t *sums, size_t count);

// Encodes `count` pixels, whose values times `scale` are from 0 to 1: a colour is divided by its alpha, encoded, and multiplied
// with it. Values beyond, which the filter's negative lobes make, are clamped.
void halcyon_light_store(const float4 *line, size_t count, float scale, uint8_t *pixels);

#endif
