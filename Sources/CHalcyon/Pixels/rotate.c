// Rotation by any angle with bilinear samples, in tiles, since a row of the result crosses as many rows of the source
// as it is long.
#include "halcyon_pixels.h"
#include "pixels_internal.h"

#include <math.h>
#include <string.h>

typedef uint8_t byte8 __attribute__((vector_size(8)));
typedef uint16_t half8 __attribute__((vector_size(16)));
typedef uint32_t word8 __attribute__((vector_size(32)));
typedef uint16_t half4 __attribute__((vector_size(8)));
typedef uint8_t byte4 __attribute__((vector_size(4)));

// A coordinate in the source: 32 bits of whole pixels and 32 fractional bits.
typedef int64_t place;

static inline place fixed(double value) {
    return (place)llround(value * 4294967296.0);
}

// Mixes four pixels: `upper` and `lower` each hold a left and a right one.
ALWAYS uint32_t mixed(half8 upper, half8 lower, uint32_t across, uint32_t down) {
    half8 pair = upper * (uint16_t)(256 - down) + lower * (uint16_t)down;
    half8 weights = (half8){0} + (uint16_t)(across << 8);
    const half8 flip = {0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0, 0, 0, 0};
    weights ^= flip;
    half8 parts = __builtin_convertvector(
        (__builtin_convertvector(pair, word8) * __builtin_convertvector(weights, word8)) >> 16, half8);
    half4 sum = __builtin_shufflevector(parts, parts, 0, 1, 2, 3) + __builtin_shufflevector(parts, parts, 4, 5, 6, 7);
    byte4 bytes = __builtin_convertvector((sum + 128) >> 8, byte4);
    uint32_t pixel;
    memcpy(&pixel, &bytes, 4);
    return pixel;
}

// Returns a sample whose four pixels are all inside of the source.
ALWAYS uint32_t inner_sample(halcyon_bitmap source, place x, place y) {
    const uint8_t *upper = source.pixels + (size_t)(y >> 32) * source.stride + (size_t)(x >> 32) * 4;
    byte8 top, bottom;
    memcpy(&top, upper, 8);
    memcpy(&bottom, upper + source.stride, 8);
    return mixed(__builtin_convertvector(top, half8), __builtin_convertvector(bottom, half8), (uint32_t)x >> 24,
                 (uint32_t)y >> 24);
}

static uint32_t pixel_at(halcyon_bitmap source, long x, long y) {
    if (x < 0 || y < 0 || x >= source.width || y >= source.height) return 0;
    uint32_t pixel;
    memcpy(&pixel, source.pixels + (size_t)y * source.stride + (size_t)x * 4, 4);
    return pixel;
}

// Returns a sample at the edge: beyond it the source is transparent.
static uint32_t edge_sample(halcyon_bitmap source, place x, place y) {
    long left = (long)(x >> 32), top = (long)(y >> 32);
    uint32_t pixels[4] = {pixel_at(source, left, top), pixel_at(source, left + 1, top), pixel_at(source, left, top + 1),
                          pixel_at(source, left + 1, top + 1)};
    if (!(pixels[0] | pixels[1] | pixels[2] | pixels[3])) return 0;
    byte8 upper, lower;
    memcpy(&upper, pixels, 8);
    memcpy(&lower, pixels + 2, 8);
    return mixed(__builtin_convertvector(upper, half8), __builtin_convertvector(lower, half8), (uint32_t)x >> 24,
                 (uint32_t)y >> 24);
}

static uint32_t over(uint32_t pixel, uint32_t ground) {
    uint32_t rest = 255 - (pixel >> 24), out = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        out |= (((pixel >> shift) & 255) + scaled((ground >> shift) & 255, rest)) << shift;
    }
    return out;
}

// Narrows the columns `from..<to` of a line to those where a coordinate that begins at `start` and grows by `step` is in
// 0..<limit.
static void narrow(long *from, long *to, place start, place step, place limit) {
    if (step == 0) {
        if (start < 0 || start >= limit) *to = *from;
        return;
    }
    double first = -(double)start / (double)step, last = ((double)limit - (double)start) / (double)step;
    if (step < 0) {
        double swap = first;
        first = last;
        last = swap;
    }
    if (first > (double)*from) *from = first > (double)*to ? *to : (long)ceil(first);
    if (last < (double)*to) *to = last < (double)*from ? *from : (long)ceil(last);
    // Doubles are rounded, and nothing out of bounds may be read.
    while (*from < *to && (start + step * *from < 0 || start + step * *from >= limit)) ++*from;
    while (*from < *to && (start + step * (*to - 1) < 0 || start + step * (*to - 1) >= limit)) --*to;
}

// A row of the result.
typedef struct {
    place start_x, start_y;  // of its first column
    // The columns that see any of the source, and those of them that see only the source.
    long from, first, last, to;
} line;

typedef struct turn turn;

// Draws `count` samples that see only the source, from the coordinates of the first one.
typedef void inner_row(halcyon_bitmap source, uint8_t *out, place x, place y, const turn *t, long count);

struct turn {
    place step_x, step_y;
    uint32_t ground;
    bool blends;  // whether inner samples may be transparent, and the ground is not
    inner_row *inner;
    // The distance in bytes to the sample some rows below, whose memory is fetched ahead. No processor foresees
    // a walk across rows.
    long ahead;
};

static line make_line(halcyon_bitmap source, const turn *t, double x, double y, long width) {
    const place one = (place)1 << 32;
    line l = {.start_x = fixed(x), .start_y = fixed(y), .to = width};
    narrow(&l.from, &l.to, l.start_x + one, t->step_x, ((place)source.width + 1) << 32);
    narrow(&l.from, &l.to, l.start_y + one, t->step_y, ((place)source.height + 1) << 32);
    if (l.from >= l.to) l.to = l.from;
    l.first = l.from;
    l.last = l.to;
    narrow(&l.first, &l.last, l.start_x, t->step_x, (place)(source.width - 1) << 32);
    narrow(&l.first, &l.last, l.start_y, t->step_y, (place)(source.height - 1) << 32);
    if (l.first >= l.last) l.first = l.last = l.from;
    return l;
}

static long within(long value, long from, long to) {
    return value < from ? from : value > to ? to : value;
}

static void fill(uint8_t *out, long from, long to, uint32_t pixel) {
    for (long i = from; i < to; i++) memcpy(out + i * 4, &pixel, 4);
}

static void turn_edge(halcyon_bitmap source, uint8_t *out, const line *l, const turn *t, long from, long to) {
    for (long i = from; i < to; i++) {
        uint32_t sample = edge_sample(source, l->start_x + i * t->step_x, l->start_y + i * t->step_y);
        uint32_t pixel = over(sample, t->ground);
        memcpy(out + i * 4, &pixel, 4);
    }
}

static void inner_any(halcyon_bitmap source, uint8_t *out, place x, place y, const turn *t, long count) {
    for (long i = 0; i < count; i++, x += t->step_x, y += t->step_y) {
        uint32_t pixel = inner_sample(source, x, y);
        memcpy(out + i * 4, &pixel, 4);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

// Eight samples are made at once, as two vectors of four: the first has the samples 0, 1, 4 and 5, the second 2, 3, 6
// and 7, which `joined` puts in order.

// Joins the lower or the upper 32 bits of eight numbers.
ALWAYS AVX2 __m256i joined(__m256i some, __m256i others, bool upper) {
    __m256 a = _mm256_castsi256_ps(some), b = _mm256_castsi256_ps(others);
    return _mm256_castps_si256(upper ? _mm256_shuffle_ps(a, b, 0xDD) : _mm256_shuffle_ps(a, b, 0x88));
}

// Reads the left and right pixels of four samples.
ALWAYS AVX2 __m256i pairs(const uint8_t *row, const uint32_t *offsets) {
    __m128d low = _mm_loadh_pd(_mm_load_sd((const double *)(row + offsets[0])), (const double *)(row + offsets[1]));
    __m128d high = _mm_loadh_pd(_mm_load_sd((const double *)(row + offsets[4])), (const double *)(row + offsets[5]));
    return _mm256_castpd_si256(_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1));
}

// Weighs two of the channels, in 16 bits each, as `mixed` does. The left and the right parts are still to be added.
ALWAYS AVX2 __m256i weighed(__m256i upper, __m256i lower, __m256i across, __m256i down) {
    __m256i up = _mm256_sub_epi16(_mm256_set1_epi16(256), down);
    __m256i pair = _mm256_add_epi16(_mm256_mullo_epi16(upper, up), _mm256_mullo_epi16(lower, down));
    return _mm256_mulhi_epu16(pair, across);
}

// Returns the rounded sums of eight samples' parts.
ALWAYS AVX2 __m256i sums(const __m256i parts[2]) {
    __m256i left = joined(parts[0], parts[1], false), right = joined(parts[0], parts[1], true);
    return _mm256_add_epi16(_mm256_add_epi16(left, right), _mm256_set1_epi16(128));
}

// Returns eight samples. `x` and `y` are the fractions of their coordinates.
ALWAYS AVX2 __m256i eight_samples(halcyon_bitmap source, const uint32_t *offsets, __m256i x, __m256i y) {
    const __m256i low = _mm256_set1_epi16(0xFF), left = _mm256_set1_epi64x(0xFFFFFFFF);
    const __m256i first = _mm256_setr_epi16(3, 3, 3, 3, 7, 7, 7, 7, 3, 3, 3, 3, 7, 7, 7, 7);
    __m256i even[2], odd[2];
    for (int i = 0; i < 2; i++) {
        __m256i upper = pairs(source.pixels, offsets + i * 2);
        __m256i lower = pairs(source.pixels + source.stride, offsets + i * 2);
        // The highest bytes of the fractions, four times each, in the lower halves of 16 bits; and in the upper ones.
        const __m256i places = _mm256_or_si256(first, _mm256_set1_epi16((short)(0x8000 + i * 8)));
        const __m256i raised = _mm256_or_si256(_mm256_slli_epi16(places, 8), _mm256_set1_epi16(0x80));
        __m256i down = _mm256_shuffle_epi8(y, places);
        __m256i across = _mm256_xor_si256(_mm256_shuffle_epi8(x, raised), left);
        even[i] = weighed(_mm256_and_si256(upper, low), _mm256_and_si256(lower, low), across, down);
        odd[i] = weighed(_mm256_srli_epi16(upper, 8), _mm256_srli_epi16(lower, 8), across, down);
    }
    return _mm256_or_si256(_mm256_srli_epi16(sums(even), 8), _mm256_andnot_si256(low, sums(odd)));
}

AVX2 static void inner_avx2(halcyon_bitmap source, uint8_t *out, place x, place y, const turn *t, long count) {
    const place dx = t->step_x, dy = t->step_y;
    const __m256i stride = _mm256_set1_epi32((int)(uint32_t)source.stride);
    const __m256i more_x = _mm256_set1_epi64x(dx * 8), more_y = _mm256_set1_epi64x(dy * 8);
    __m256i x0 = _mm256_add_epi64(_mm256_set1_epi64x(x), _mm256_setr_epi64x(0, dx, dx * 4, dx * 5));
    __m256i y0 = _mm256_add_epi64(_mm256_set1_epi64x(y), _mm256_setr_epi64x(0, dy, dy * 4, dy * 5));
    __m256i x1 = _mm256_add_epi64(x0, _mm256_set1_epi64x(dx * 2));
    __m256i y1 = _mm256_add_epi64(y0, _mm256_set1_epi64x(dy * 2));
    long done = 0;
    for (; done + 8 <= count; done += 8) {
        uint32_t offsets[8] __attribute__((aligned(32)));
        __m256i rows = _mm256_mullo_epi32(joined(y0, y1, true), stride);
        __m256i columns = _mm256_slli_epi32(joined(x0, x1, true), 2);
        _mm256_store_si256((__m256i *)offsets, _mm256_add_epi32(rows, columns));
        // The offsets are to be read back from memory: the compiler would take each out of the vector, by two or three
        // instructions instead of one.
        __asm__("" : "+m"(offsets));
        __builtin_prefetch((const void *)((uintptr_t)source.pixels + offsets[0] + t->ahead));
        __builtin_prefetch((const void *)((uintptr_t)source.pixels + offsets[4] + t->ahead));
        __m256i pixels = eight_samples(source, offsets, joined(x0, x1, false), joined(y0, y1, false));
        _mm256_storeu_si256((__m256i *)(out + done * 4), pixels);
        x0 = _mm256_add_epi64(x0, more_x);
        x1 = _mm256_add_epi64(x1, more_x);
        y0 = _mm256_add_epi64(y0, more_y);
        y1 = _mm256_add_epi64(y1, more_y);
    }
    inner_any(source, out + done * 4, x + done * dx, y + done * dy, t, count - done);
}
#endif

// Returns the fastest way on the present processor.
static inner_row *chosen_inner(halcyon_bitmap source) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && source.stride * (size_t)source.height <= UINT32_MAX) return inner_avx2;
#else
    (void)source;
#endif
    return inner_any;
}

static void turn_inner(halcyon_bitmap source, uint8_t *out, const line *l, const turn *t, long from, long to) {
    if (from >= to) return;
    t->inner(source, out + from * 4, l->start_x + from * t->step_x, l->start_y + from * t->step_y, t, to - from);
    for (long i = from; i < to && t->blends; i++) {
        uint32_t pixel;
        memcpy(&pixel, out + i * 4, 4);
        pixel = over(pixel, t->ground);
        memcpy(out + i * 4, &pixel, 4);
    }
}

// Draws the columns `left..<right` of a row.
static void turn_part(halcyon_bitmap source, uint8_t *out, const line *l, const turn *t, long left, long right) {
    long from = within(l->from, left, right), to = within(l->to, left, right);
    long first = within(l->first, left, right), last = within(l->last, left, right);
    fill(out, left, from, t->ground);
    turn_edge(source, out, l, t, from, first);
    turn_inner(source, out, l, t, first, last);
    turn_edge(source, out, l, t, last, to);
    fill(out, to, right, t->ground);
}

halcyon_status halcyon_turn(halcyon_bitmap source, halcyon_bitmap result, halcyon_turning turning,
                            halcyon_cancelled cancelled, void *context) {
    enum { tile_width = 128, tile_height = 32, rows_ahead = 16 };
    double cosine = turning.cosine, sine = turning.sine;
    const turn t = {
        .step_x = fixed(cosine),
        .step_y = fixed(-sine),
        .ground = turning.ground,
        .blends = turning.ground >> 24 != 0 && !turning.is_opaque,
        .inner = chosen_inner(source),
        .ahead = lround(cosine * rows_ahead) * (long)source.stride + lround(sine * rows_ahead) * 4,
    };
    line lines[tile_height];
    for (long top = 0; top < result.height; top += tile_height) {
        if (cancelled && cancelled(context)) return HALCYON_CANCELLED;
        long rows = result.height - top < tile_height ? result.height - top : tile_height;
        for (long i = 0; i < rows; i++) {
            double x = 0.5 - result.width / 2.0, y = (double)(top + i) + 0.5 - result.height / 2.0;
            // The colour of a source pixel is that of its centre. The fraction is truncated to 8 bits: adding half of
            // one unit rounds it.
            lines[i] = make_line(source, &t, cosine * x + sine * y + source.width / 2.0 - 0.5 + 1 / 512.0,
                                 -sine * x + cosine * y + source.height / 2.0 - 0.5 + 1 / 512.0, result.width);
        }
        for (long left = 0; left < result.width; left += tile_width) {
            long right = left + tile_width < result.width ? left + tile_width : result.width;
            for (long i = 0; i < rows; i++) {
                turn_part(source, result.pixels + (size_t)(top + i) * result.stride, &lines[i], &t, left, right);
            }
        }
    }
    return HALCYON_OK;
}
