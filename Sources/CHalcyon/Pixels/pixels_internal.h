// Definitions that the kernels share.
#ifndef HALCYON_PIXELS_INTERNAL_H
#define HALCYON_PIXELS_INTERNAL_H

#include <halcyon_variants.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Allocates memory that is aligned for vectors of any width. NULL if there is no memory.
static inline void *allocate(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, 64, bytes) == 0 ? memory : NULL;
}

// Returns a * b / 255, rounded to the nearest, exact for bytes.
static inline uint32_t scaled(uint32_t a, uint32_t b) {
    uint32_t product = a * b + 128;
    return (product + (product >> 8)) >> 8;
}

#endif
