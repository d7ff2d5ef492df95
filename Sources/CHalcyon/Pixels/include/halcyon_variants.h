// Functions in two variants, one for processors with newer instructions.
#ifndef HALCYON_VARIANTS_H
#define HALCYON_VARIANTS_H

#define ALWAYS static inline __attribute__((always_inline))

// Compiles a body twice, for any processor and for those with AVX2, and calls the variant for the present processor.
// `target_clones` is not used: its resolvers run before a sanitizer is ready for them.
#if defined(__x86_64__)
#define VARIANTS(type, name, parameters, call)                                                                        \
    __attribute__((target("avx2,fma,bmi2"))) static type name##_avx2 parameters {                                     \
        return call;                                                                                                  \
    }                                                                                                                 \
    static type name##_any parameters {                                                                               \
        return call;                                                                                                  \
    }                                                                                                                 \
    static type (*name##_chosen(void))parameters {                                                                    \
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")      \
                   ? name##_avx2                                                                                      \
                   : name##_any;                                                                                      \
    }
#define VARIANT(name) name##_chosen()
#else
#define VARIANTS(type, name, parameters, call)                                                                        \
    static type name##_any parameters {                                                                               \
        return call;                                                                                                  \
    }
#define VARIANT(name) name##_any
#endif

#endif
