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

typedef struct {
    place step_x, step_y;
    uint32_t ground;
    bool blends;  // whether inner samples may be transparent, and the ground is not
} turn;

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

ALWAYS void turn_inner(halcyon_bitmap source, uint8_t *out, const line *l, const turn *t, long from, long to) {
    place x = l->start_x + from * t->step_x, y = l->start_y + from * t->step_y;
    for (long i = from; i < to; i++, x += t->step_x, y += t->step_y) {
        uint32_t pixel = inner_sample(source, x, y);
        memcpy(out + i * 4, &pixel, 4);
    }
    for (long i = from; i < to && t->blends; i++) {
        uint32_t pixel;
        memcpy(&pixel, out + i * 4, 4);
        pixel = over(pixel, t->ground);
        memcpy(out + i * 4, &pixel, 4);
    }
}

// Draws the columns `left..<right` of a row.
ALWAYS void turn_part(halcyon_bitmap source, uint8_t *out, const line *l, const turn *t, long left, long right) {
    long from = within(l->from, left, right), to = within(l->to, left, right);
    long first = within(l->first, left, right), last = within(l->last, left, right);
    fill(out, left, from, t->ground);
    turn_edge(source, out, l, t, from, first);
    turn_inner(source, out, l, t, first, last);
    turn_edge(source, out, l, t, last, to);
    fill(out, to, right, t->ground);
}

VARIANTS(void, part, (halcyon_bitmap source, uint8_t *out, const line *l, const turn *t, long left, long right),
         turn_part(source, out, l, t, left, right))

halcyon_status halcyon_turn(halcyon_bitmap source, halcyon_bitmap result, halcyon_turning turning,
                            halcyon_cancelled cancelled, void *context) {
    enum { tile_width = 128, tile_height = 32 };
    double cosine = turning.cosine, sine = turning.sine;
    turn t = {fixed(cosine), fixed(-sine), turning.ground, turning.ground >> 24 != 0 && !turning.is_opaque};
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
                VARIANT(part)(source, result.pixels + (size_t)(top + i) * result.stride, &lines[i], &t, left, right);
            }
        }
    }
    return HALCYON_OK;
}
