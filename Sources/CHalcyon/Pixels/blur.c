// A Gaussian as three passes of a box whose two outermost samples count in part, so that its variance is exactly a third of
// the Gaussian's. Samples between passes have 16 bits, a few of them behind the point; a large blur is one of a reduced
// picture.
#include "halcyon_pixels.h"
#include "pixels_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

// Four pixels: of four rows on the way across, of four columns on the way down.
typedef uint8_t byte16 __attribute__((vector_size(16)));
typedef uint16_t half16 __attribute__((vector_size(32)));
typedef uint32_t word16 __attribute__((vector_size(64)));

typedef struct {
    // Samples from the middle to the one that counts in part.
    long reach;
    // What that one counts, and the whole sum is divided by: as parts of 65,536.
    uint16_t part, inverse;
    // Makes the division round.
    uint16_t half;
    // Bits behind the point. No sum has more than 15 bits, so that even one level stays what it is.
    int bits;
} box;

static box make_box(double sigma) {
    // With whole weights for -r...r and `part` for the next on either side, the variance is
    // (r (r + 1) (2 r + 1) / 3 + 2 part (r + 1)^2) / (2 r + 1 + 2 part).
    double variance = sigma * sigma / 3;
    int r = (int)((sqrt(12 * variance + 1) - 1) / 2);
    double next = (r + 1.0) * (r + 1.0);
    double part = (2 * r + 1) * (r * (r + 1) / 3.0 - variance) / (2 * (variance - next));
    part = fmin(fmax(part, 0), 1 - 1 / 65536.0);
    double total = 2 * r + 1 + 2 * part;
    int bits = 0;
    while (bits < 6 && total * (double)(4 << bits) <= 256) bits++;
    // Up: what is cut off in the products must not make a bright picture darker.
    return (box){r + 1, (uint16_t)(part * 65536), (uint16_t)fmin(ceil(65536 / total), 65535), (uint16_t)(total / 2), bits};
}

// One of the three passes down a strip: it is given rows and, once it has as many as its box is high, gives one for each.
typedef struct {
    half16 *rows;
    half16 *sums;
    long taken;
} stage;

// What the stages of a strip of columns work in.
typedef struct {
    half16 *memory;
    size_t ring;  // of one stage
} strip;

// MARK: The two ways through a bitmap, for each kind of processor

#define FOR(name) name##_any
#define TARGET
#define HIGH(a, b)                                                                                                    \
    __builtin_convertvector((__builtin_convertvector(a, word16) * __builtin_convertvector(b, word16)) >> 16, half16)
#include "blur_passes.h"

#if defined(__x86_64__)
#define FOR(name) name##_avx2
#define TARGET __attribute__((target("avx2")))
#define HIGH(a, b) ((half16)_mm256_mulhi_epu16((__m256i)(a), (__m256i)(b)))
#include "blur_passes.h"
#define CHOSEN(name) (__builtin_cpu_supports("avx2") ? name##_avx2 : name##_any)
#else
#define CHOSEN(name) name##_any
#endif

static halcyon_status all_across(halcyon_bitmap source, halcyon_bitmap result, box b, halcyon_cancelled cancelled,
                                 void *context) {
    size_t samples = (size_t)source.width + 6 * (size_t)b.reach;
    half16 *memory = allocate(2 * samples * sizeof *memory);
    if (!memory) return HALCYON_NO_MEMORY;
    halcyon_status status = HALCYON_OK;
    for (long y = 0; y < source.height; y += 4) {
        if ((y & 15) == 0 && cancelled && cancelled(context)) {
            status = HALCYON_CANCELLED;
            break;
        }
        const uint8_t *from[4];
        uint8_t *to[4];
        for (long i = 0; i < 4; i++) {
            // Fewer than four are left at the end: the last of them more than once.
            size_t row = (size_t)(y + i < source.height ? y + i : source.height - 1);
            from[i] = source.pixels + row * source.stride;
            to[i] = result.pixels + row * result.stride;
        }
        CHOSEN(across)(from, to, source.width, memory, memory + samples, b);
    }
    free(memory);
    return status;
}

static halcyon_status all_down(halcyon_bitmap result, box b, halcyon_cancelled cancelled, void *context) {
    // What a strip keeps of a small blur stays in the first-level cache.
    long columns = b.reach <= 12 ? 64 : 32;
    size_t lanes = (size_t)columns / 4;
    strip s = {.ring = (2 * (size_t)b.reach + 1) * lanes};
    s.memory = allocate((3 * s.ring + 5 * lanes) * sizeof(half16));
    halcyon_status status = s.memory ? HALCYON_OK : HALCYON_NO_MEMORY;
    for (long x = 0; x < result.width && status == HALCYON_OK; x += columns) {
        if (cancelled && cancelled(context)) {
            status = HALCYON_CANCELLED;
        } else {
            long width = result.width - x < columns ? result.width - x : columns;
            CHOSEN(down)(result.pixels + x * 4, (long)result.stride, width, result.height, s, b);
        }
    }
    free(s.memory);
    return status;
}

static halcyon_status blur(halcyon_bitmap source, halcyon_bitmap result, double sigma_x, double sigma_y,
                           halcyon_cancelled cancelled, void *context) {
    halcyon_status status = all_across(source, result, make_box(sigma_x), cancelled, context);
    return status == HALCYON_OK ? all_down(result, make_box(sigma_y), cancelled, context) : status;
}

// MARK: Large blurs

// What a reduction to means and an enlargement by triangles leave of a blur, in pixels between them.
static double left_of(double sigma, double factor) {
    return sqrt(fmax(sigma * sigma - factor * factor / 4, 0)) / factor;
}

static halcyon_status blur_reduced(halcyon_bitmap source, halcyon_bitmap result, double sigma, int factor,
                                   halcyon_cancelled cancelled, void *context) {
    int width = (source.width + factor - 1) / factor, height = (source.height + factor - 1) / factor;
    size_t bytes = (size_t)width * (size_t)height * 4;
    uint8_t *memory = allocate(2 * bytes);
    if (!memory) return HALCYON_NO_MEMORY;
    halcyon_bitmap small = {memory, width, height, (size_t)width * 4}, blurred = small;
    blurred.pixels += bytes;
    halcyon_region all = {0, 0, source.width, source.height}, all_small = {0, 0, width, height};
    halcyon_status status = halcyon_resample(source, all, small, HALCYON_FILTER_AREA, cancelled, context);
    if (status == HALCYON_OK) {
        status = blur(small, blurred, left_of(sigma, (double)source.width / width),
                      left_of(sigma, (double)source.height / height), cancelled, context);
    }
    if (status == HALCYON_OK) {
        status = halcyon_resample(blurred, all_small, result, HALCYON_FILTER_BILINEAR, cancelled, context);
    }
    free(memory);
    return status;
}

halcyon_status halcyon_blur(halcyon_bitmap source, halcyon_bitmap result, double sigma, halcyon_cancelled cancelled,
                            void *context) {
    // Up to here a bit is left behind the point.
    const double most = 31;
    int factor = 1;
    while (sigma / factor > most) factor *= 2;
    if (factor == 1) return blur(source, result, sigma, sigma, cancelled, context);
    return blur_reduced(source, result, sigma, factor, cancelled, context);
}
