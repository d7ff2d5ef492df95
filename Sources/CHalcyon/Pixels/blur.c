// A Gaussian by three box passes whose two outermost samples have a fractional weight, so that the variance of a pass
// is exactly a third of the Gaussian's, or below one pixel by weights that make the Gaussian itself. Samples between
// passes have 16 bits, a few of them fractional; a large blur is applied to a reduced picture.
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
    // The distance from the middle to the sample with a fractional weight.
    long reach;
    // The weight of that sample, and the inverse of the sum of all weights, in parts of 65,536.
    uint16_t part, inverse;
    // The rounding term of the division.
    uint16_t half;
    // The number of fractional bits. No sum has more than 15 bits, so that even a single level is preserved.
    int bits;
} box;

// The boxes of the three passes; all have one reach.
typedef struct {
    box pass[3];
} boxes;

static box weights(int reach, double part) {
    part = fmin(fmax(part, 0), 1 - 1 / 65536.0);
    double total = 2 * reach - 1 + 2 * part;
    int bits = 0;
    while (bits < 6 && total * (double)(4 << bits) <= 256) bits++;
    // Rounded up: the truncation of the products must not make a bright picture darker.
    return (box){reach, (uint16_t)(part * 65536), (uint16_t)fmin(ceil(65536 / total), 65535), (uint16_t)(total / 2), bits};
}

static box make_box(double sigma) {
    // With whole weights for -r...r and `part` for the next on either side, the variance is
    // (r (r + 1) (2 r + 1) / 3 + 2 part (r + 1)^2) / (2 r + 1 + 2 part).
    double variance = sigma * sigma / 3;
    int r = (int)((sqrt(12 * variance + 1) - 1) / 2);
    double next = (r + 1.0) * (r + 1.0);
    double part = (2 * r + 1) * (r * (r + 1) / 3.0 - variance) / (2 * (variance - next));
    return weights(r + 1, part);
}

// Returns the boxes of a blur. The samples of a Gaussian, q^(n^2), are the product of passes of three samples, (a, 1
// + a^2, a) where a is q, q^3, q^5 and so on (Jacobi). Up to one pixel the first three omit next to nothing, while
// boxes have another shape.
static boxes make_boxes(double sigma) {
    boxes b;
    for (int i = 0; i < 3; i++) {
        double a = exp(-(2 * i + 1) / (2 * sigma * sigma));
        b.pass[i] = sigma < 1 ? weights(1, a / (1 + a * a)) : make_box(sigma);
    }
    return b;
}

// One of the three passes down a strip: it takes rows and, once it has as many as its box is high, returns one for
// each.
typedef struct {
    half16 *rows;
    half16 *sums;
    long taken;
} stage;

// The working memory of the stages of a strip of columns.
typedef struct {
    half16 *memory;
    size_t ring;  // of one stage
} strip;

// MARK: The two directions through a bitmap, for each kind of processor

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

static halcyon_status all_across(halcyon_bitmap source, halcyon_bitmap result, const boxes *b,
                                 halcyon_cancelled cancelled, void *context) {
    size_t samples = (size_t)source.width + 6 * (size_t)b->pass[0].reach;
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
            // Fewer than four rows are left at the end: the last one is repeated.
            size_t row = (size_t)(y + i < source.height ? y + i : source.height - 1);
            from[i] = source.pixels + row * source.stride;
            to[i] = result.pixels + row * result.stride;
        }
        CHOSEN(across)(from, to, source.width, memory, memory + samples, b);
    }
    free(memory);
    return status;
}

static halcyon_status all_down(halcyon_bitmap result, const boxes *b, halcyon_cancelled cancelled, void *context) {
    // The memory of a strip fits the first-level cache for a small blur.
    long reach = b->pass[0].reach, columns = reach <= 12 ? 64 : 32;
    size_t lanes = (size_t)columns / 4;
    strip s = {.ring = (2 * (size_t)reach + 1) * lanes};
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
    boxes across = make_boxes(sigma_x), down = make_boxes(sigma_y);
    halcyon_status status = all_across(source, result, &across, cancelled, context);
    return status == HALCYON_OK ? all_down(result, &down, cancelled, context) : status;
}

// MARK: Large blurs

// The largest sigma for the passes: up to here a fractional bit is left.
static const double most = 31;

// Returns the blur that remains after a reduction to means and an enlargement by triangles, in pixels of the reduced
// picture. It would be more than `most` if an image is smaller than a few of them; then only its edges are left.
static double left_of(double sigma, double factor) {
    return fmin(sqrt(fmax(sigma * sigma - factor * factor / 4, 0)) / factor, most);
}

static halcyon_bitmap part(halcyon_bitmap source, int x, int y, int width, int height) {
    return (halcyon_bitmap){source.pixels + (size_t)y * source.stride + (size_t)x * 4, width, height, source.stride};
}

// Writes means of a source to a part of a result, by way of `memory`, which has room for them.
static halcyon_status reduce(halcyon_bitmap source, halcyon_bitmap result, uint8_t *memory, halcyon_cancelled cancelled,
                             void *context) {
    halcyon_bitmap small = {memory, result.width, result.height, (size_t)result.width * 4};
    halcyon_region all = {0, 0, source.width, source.height};
    halcyon_status status = halcyon_resample(source, all, small, HALCYON_FILTER_AREA, HALCYON_LIGHT_ENCODED,
                                             cancelled, context);
    for (int y = 0; y < small.height && status == HALCYON_OK; y++) {
        memcpy(result.pixels + (size_t)y * result.stride, small.pixels + (size_t)y * small.stride, small.stride);
    }
    return status;
}

// Reduces a source with its edges: `small` has one more pixel on each side than means, for the area beyond the edges,
// which consists of the outermost pixels alone.
static halcyon_status reduce_with_edges(halcyon_bitmap source, halcyon_bitmap small, uint8_t *memory,
                                        halcyon_cancelled cancelled, void *context) {
    // The origin and the destination of each of three columns, and of three rows.
    const int from_x[3] = {0, 0, source.width - 1}, widths[3] = {1, source.width, 1};
    const int from_y[3] = {0, 0, source.height - 1}, heights[3] = {1, source.height, 1};
    const int to_x[3] = {0, 1, small.width - 1}, small_widths[3] = {1, small.width - 2, 1};
    const int to_y[3] = {0, 1, small.height - 1}, small_heights[3] = {1, small.height - 2, 1};
    halcyon_status status = HALCYON_OK;
    for (int i = 0; i < 9 && status == HALCYON_OK; i++) {
        int x = i % 3, y = i / 3;
        status = reduce(part(source, from_x[x], from_y[y], widths[x], heights[y]),
                        part(small, to_x[x], to_y[y], small_widths[x], small_heights[y]), memory, cancelled, context);
    }
    return status;
}

static halcyon_status blur_reduced(halcyon_bitmap source, halcyon_bitmap result, double sigma, int factor,
                                   halcyon_cancelled cancelled, void *context) {
    int width = (source.width + factor - 1) / factor, height = (source.height + factor - 1) / factor;
    size_t stride = ((size_t)width + 2) * 4, bytes = stride * ((size_t)height + 2);
    uint8_t *memory = allocate(2 * bytes);
    if (!memory) return HALCYON_NO_MEMORY;
    halcyon_bitmap small = {memory, width + 2, height + 2, stride}, blurred = small;
    blurred.pixels += bytes;
    halcyon_status status = reduce_with_edges(source, small, blurred.pixels, cancelled, context);
    if (status == HALCYON_OK) {
        status = blur(small, blurred, left_of(sigma, (double)source.width / width),
                      left_of(sigma, (double)source.height / height), cancelled, context);
    }
    if (status == HALCYON_OK) {
        halcyon_region inner = {1, 1, width, height};
        status = halcyon_resample(blurred, inner, result, HALCYON_FILTER_BILINEAR, HALCYON_LIGHT_ENCODED, cancelled,
                                  context);
    }
    free(memory);
    return status;
}

halcyon_status halcyon_blur(halcyon_bitmap source, halcyon_bitmap result, double sigma, halcyon_cancelled cancelled,
                            void *context) {
    int factor = 1;
    while (sigma / factor > most) factor *= 2;
    if (factor == 1) return blur(source, result, sigma, sigma, cancelled, context);
    return blur_reduced(source, result, sigma, factor, cancelled, context);
}
