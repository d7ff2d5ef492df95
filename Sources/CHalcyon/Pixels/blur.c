// A Gaussian as three passes of a box whose two outermost samples count in part, so that its variance is exactly a third of
// the Gaussian's. Samples between passes are 16 bits, with eight behind the point; sums are exact.
#include "halcyon_pixels.h"
#include "pixels_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t byte8 __attribute__((vector_size(8)));
typedef uint16_t half8 __attribute__((vector_size(16)));
typedef uint32_t word8 __attribute__((vector_size(32)));
typedef int32_t int8x32 __attribute__((vector_size(32)));
typedef float float8 __attribute__((vector_size(32)));

typedef struct {
    // Samples from the middle to the one that counts in part.
    int reach;
    // What each of the inner samples counts, and each of the two outermost.
    float inner, outer;
} box;

static box make_box(double sigma) {
    // With whole weights for -r...r and `part` for the next on either side, the variance is
    // (r (r + 1) (2 r + 1) / 3 + 2 part (r + 1)^2) / (2 r + 1 + 2 part).
    double variance = sigma * sigma / 3;
    int r = (int)((sqrt(12 * variance + 1) - 1) / 2);
    double next = (r + 1.0) * (r + 1.0);
    double part = (2 * r + 1) * (r * (r + 1) / 3.0 - variance) / (2 * (variance - next));
    double total = 2 * r + 1 + 2 * part;
    return (box){r + 1, (float)(1 / total), (float)(part / total)};
}

// Weighs eight samples: the sum of the inner ones, and that of the two outermost.
#define WEIGHED(sum, ends, b)                                                                                         \
    __builtin_convertvector(                                                                                          \
        __builtin_convertvector(                                                                                      \
            __builtin_convertvector((int8x32)(sum), float8) * (b).inner                                               \
                + __builtin_convertvector((int8x32)(ends), float8) * (b).outer + 0.5f,                                \
            int8x32),                                                                                                 \
        half8)

// MARK: Across

// Two rows at once: eight samples a pixel.
ALWAYS void pass_across(const half8 *in, half8 *out, long count, box b) {
    long span = 2L * b.reach;
    word8 sum = {0};
    for (long i = 1; i < span; i++) sum += __builtin_convertvector(in[i], word8);
    for (long i = 0; i < count; i++) {
        word8 last = __builtin_convertvector(in[i + span], word8);
        word8 ends = __builtin_convertvector(in[i], word8) + last;
        out[i] = WEIGHED(sum, ends, b);
        sum += last - __builtin_convertvector(in[i + 1], word8);
    }
}

ALWAYS void blur_across(const uint8_t *first, const uint8_t *second, uint8_t *to_first, uint8_t *to_second, long width,
                        half8 *samples, half8 *others, box b) {
    long pad = 3L * b.reach;
    for (long x = 0; x < width; x++) {
        byte8 bytes;
        memcpy(&bytes, first + x * 4, 4);
        memcpy((uint8_t *)&bytes + 4, second + x * 4, 4);
        samples[pad + x] = __builtin_convertvector(bytes, half8) << 8;
    }
    for (long x = 0; x < pad; x++) {
        samples[x] = samples[pad];
        samples[pad + width + x] = samples[pad + width - 1];
    }
    pass_across(samples, others, width + 4L * b.reach, b);
    pass_across(others, samples, width + 2L * b.reach, b);
    pass_across(samples, others, width, b);
    for (long x = 0; x < width; x++) {
        byte8 bytes = __builtin_convertvector((others[x] + 128) >> 8, byte8);
        memcpy(to_first + x * 4, &bytes, 4);
        memcpy(to_second + x * 4, (uint8_t *)&bytes + 4, 4);
    }
}

// MARK: Down

// One of the three passes down a strip: it takes rows in and, once it has as many as its box is high, gives one for each.
typedef struct {
    half8 *rows;
    word8 *sums;
    long taken;
} stage;

// What all stages of a strip of columns work in.
typedef struct {
    half8 *rows;  // of the three stages
    size_t ring;  // of one of them
    word8 *sums;
    half8 *incoming, *outgoing;
} strip;

// Two pixels each: what a strip keeps of a small blur stays in the first-level cache.
enum { strip_lanes = 32 };

// Whether a row came out.
ALWAYS bool pass_down(stage *s, const half8 *row, half8 *out, long lanes, box b) {
    long span = 2L * b.reach, j = s->taken++;
    half8 *kept = s->rows + (j % (span + 1)) * lanes;
    memcpy(kept, row, (size_t)lanes * sizeof *kept);
    if (j == 0) return false;
    if (j < span) {
        for (long i = 0; i < lanes; i++) s->sums[i] += __builtin_convertvector(kept[i], word8);
        return false;
    }
    const half8 *top = s->rows + ((j - span) % (span + 1)) * lanes;
    const half8 *leaving = s->rows + ((j - span + 1) % (span + 1)) * lanes;
    for (long i = 0; i < lanes; i++) {
        word8 last = __builtin_convertvector(kept[i], word8);
        word8 ends = __builtin_convertvector(top[i], word8) + last;
        word8 sum = s->sums[i];
        out[i] = WEIGHED(sum, ends, b);
        s->sums[i] = sum + last - __builtin_convertvector(leaving[i], word8);
    }
    return true;
}

ALWAYS void widen(const uint8_t *in, half8 *row, long width) {
    for (long x = 0; x < width / 2; x++) {
        byte8 bytes;
        memcpy(&bytes, in + x * 8, 8);
        row[x] = __builtin_convertvector(bytes, half8) << 8;
    }
    if (width & 1) {
        byte8 bytes = {0};
        memcpy(&bytes, in + (width - 1) * 4, 4);
        row[width / 2] = __builtin_convertvector(bytes, half8) << 8;
    }
}

ALWAYS void narrow(const half8 *row, uint8_t *out, long width) {
    for (long x = 0; x < width / 2; x++) {
        byte8 bytes = __builtin_convertvector((row[x] + 128) >> 8, byte8);
        memcpy(out + x * 8, &bytes, 8);
    }
    if (width & 1) {
        byte8 bytes = __builtin_convertvector((row[width / 2] + 128) >> 8, byte8);
        memcpy(out + (width - 1) * 4, &bytes, 4);
    }
}

// In place: each row is read before what comes out is written over it.
ALWAYS void blur_down(uint8_t *pixels, long stride, long width, long height, const strip *s, box b) {
    long lanes = (width + 1) / 2, done = 0;
    stage stages[3];
    for (int i = 0; i < 3; i++) {
        stages[i] = (stage){s->rows + (size_t)i * s->ring, s->sums + i * strip_lanes, 0};
        memset(stages[i].sums, 0, (size_t)lanes * sizeof(word8));
    }
    for (long y = -3L * b.reach; done < height; y++) {
        if (y <= 0 || y < height) widen(pixels + (y < 0 ? 0 : y) * stride, s->incoming, width);
        if (!pass_down(&stages[0], s->incoming, s->outgoing, lanes, b)) continue;
        if (!pass_down(&stages[1], s->outgoing, s->outgoing, lanes, b)) continue;
        if (!pass_down(&stages[2], s->outgoing, s->outgoing, lanes, b)) continue;
        narrow(s->outgoing, pixels + done++ * stride, width);
    }
}

// MARK: The two ways through a bitmap, for each kind of processor

VARIANTS(void, across, (const uint8_t *first, const uint8_t *second, uint8_t *to_first, uint8_t *to_second, long width,
                        half8 *samples, half8 *others, box b),
         blur_across(first, second, to_first, to_second, width, samples, others, b))
VARIANTS(void, down, (uint8_t *pixels, long stride, long width, long height, const strip *s, box b),
         blur_down(pixels, stride, width, height, s, b))

static halcyon_status all_across(halcyon_bitmap source, halcyon_bitmap result, box b, halcyon_cancelled cancelled,
                                 void *context) {
    size_t samples = (size_t)source.width + 6 * (size_t)b.reach;
    half8 *memory = allocate(2 * samples * sizeof *memory);
    if (!memory) return HALCYON_NO_MEMORY;
    halcyon_status status = HALCYON_OK;
    for (long y = 0; y < source.height; y += 2) {
        if ((y & 15) == 0 && cancelled && cancelled(context)) {
            status = HALCYON_CANCELLED;
            break;
        }
        long second = y + 1 < source.height ? y + 1 : y;
        size_t stride = (size_t)result.width * 4;
        VARIANT(across)(source.pixels + (size_t)y * source.stride, source.pixels + (size_t)second * source.stride,
               result.pixels + (size_t)y * stride, result.pixels + (size_t)second * stride, source.width, memory,
               memory + samples, b);
    }
    free(memory);
    return status;
}

static halcyon_status all_down(halcyon_bitmap result, box b, halcyon_cancelled cancelled, void *context) {
    strip s = {.ring = (2 * (size_t)b.reach + 1) * strip_lanes};
    size_t halves = 3 * s.ring + 2 * strip_lanes;
    s.rows = allocate(halves * sizeof(half8));
    s.sums = allocate(3 * strip_lanes * sizeof(word8));
    halcyon_status status = s.rows && s.sums ? HALCYON_OK : HALCYON_NO_MEMORY;
    s.incoming = s.rows + 3 * s.ring;
    s.outgoing = s.incoming + strip_lanes;
    for (long x = 0; x < result.width && status == HALCYON_OK; x += 2 * strip_lanes) {
        if (cancelled && cancelled(context)) status = HALCYON_CANCELLED;
        long width = result.width - x < 2 * strip_lanes ? result.width - x : 2 * strip_lanes;
        if (status == HALCYON_OK) {
            VARIANT(down)(result.pixels + x * 4, (long)result.width * 4, width, result.height, &s, b);
        }
    }
    free(s.rows);
    free(s.sums);
    return status;
}

halcyon_status halcyon_blur(halcyon_bitmap source, halcyon_bitmap result, double sigma, halcyon_cancelled cancelled,
                            void *context) {
    box b = make_box(sigma);
    halcyon_status status = all_across(source, result, b, cancelled, context);
    return status == HALCYON_OK ? all_down(result, b, cancelled, context) : status;
}
