// Definitions that the kernels share.
#ifndef HALCYON_PIXELS_INTERNAL_H
#define HALCYON_PIXELS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ALWAYS static inline __attribute__((always_inline))

// Compiles a body twice, for any processor and for those with AVX2, and calls the variant for the present processor.
// `target_clones` is not used: its resolvers run before a sanitizer is ready for them.
#if defined(__x86_64__)
#define VARIANTS(type, name, parameters, call)                                                                        \
    __attribute__((target("avx2,fma"))) static type name##_avx2 parameters {                                          \
        return call;                                                                                                  \
    }                                                                                                                 \
    static type name##_any parameters {                                                                               \
        return call;                                                                                                  \
    }                                                                                                                 \
    static type (*name##_chosen(void))parameters {                                                                    \
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? name##_avx2 : name##_any;            \
    }
#define VARIANT(name) name##_chosen()
#else
#define VARIANTS(type, name, parameters, call)                                                                        \
    static type name##_any parameters {                                                                               \
        return call;                                                                                                  \
    }
#define VARIANT(name) name##_any
#endif

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
