#include "png_filters.h"

#include <halcyon_variants.h>
#include <string.h>

// A pixel of up to four bytes in the first lanes.
typedef uint8_t byte8 __attribute__((vector_size(8)));
typedef int16_t half8 __attribute__((vector_size(16)));

enum { NONE, SUB, UP, AVERAGE, PAETH };

ALWAYS half8 load(const uint8_t *bytes) {
    byte8 pixel = {0};
    memcpy(&pixel, bytes, 4);
    return __builtin_convertvector(pixel, half8);
}

ALWAYS void store(uint8_t *bytes, half8 pixel) {
    byte8 narrow = __builtin_convertvector(pixel, byte8);
    memcpy(bytes, &narrow, 4);
}

ALWAYS half8 choose(half8 mask, half8 yes, half8 no) {
    return (mask & yes) | (~mask & no);
}

/// Returns which of left (`a`), above (`b`) and above left (`c`) is nearest to p = a + b - c, the first of those that are.
///
/// With the lower and the higher of a and b: if c is not below the higher one, p is not above the lower one, which is nearest
/// then; and the other way round. Between them, p is as far from the lower one as c is from the higher one, so the lower one is
/// not farther than c if 2 (high - c) <= c - low, which is high <= 3 c - a - b. That is true for the first case as well.
ALWAYS half8 nearest(half8 a, half8 b, half8 c) {
    half8 low = choose(a < b, a, b), high = choose(a < b, b, a), threshold = c * 3 - b - a;
    half8 is_high = threshold <= low, is_low = high <= threshold;
    // If both are true, all three are equal.
    return (is_high & high) | (is_low & low) | (~(is_high | is_low) & c);
}

/// Reverses a filter whose bytes depend on those to the left, pixel by pixel.
ALWAYS void unfilter_pixels(int filter, const uint8_t *from, const uint8_t *above, uint8_t *row, size_t count, size_t step) {
    half8 a = {0}, c = {0};
    for (size_t i = 0; i < count; i += step) {
        half8 b = load(above + i), x = load(from + i);
        half8 guess = filter == SUB ? a : filter == AVERAGE ? (a + b) >> 1 : nearest(a, b, c);
        a = (x + guess) & 255;
        c = b;
        store(row + i, a);
    }
}

/// The same for pixels of one or two bytes.
ALWAYS void unfilter_bytes(int filter, const uint8_t *from, const uint8_t *above, uint8_t *row, size_t count, size_t step) {
    for (size_t i = 0; i < count; i++) {
        int a = i < step ? 0 : row[i - step], b = above[i], c = i < step ? 0 : above[i - step];
        int guess = a;
        if (filter == AVERAGE) guess = (a + b) >> 1;
        if (filter == PAETH) {
            int low = a < b ? a : b, high = a < b ? b : a, threshold = c * 3 - b - a;
            guess = high <= threshold ? low : c;
            guess = threshold <= low ? high : guess;
        }
        row[i] = (uint8_t)(from[i] + guess);
    }
}

ALWAYS void unfilter(int filter, const uint8_t *from, const uint8_t *above, uint8_t *row, size_t count, int pixel_bytes) {
    switch (pixel_bytes) {
    case 1: unfilter_bytes(filter, from, above, row, count, 1); break;
    case 2: unfilter_bytes(filter, from, above, row, count, 2); break;
    case 3: unfilter_pixels(filter, from, above, row, count, 3); break;
    default: unfilter_pixels(filter, from, above, row, count, 4); break;
    }
}

ALWAYS bool unfilter_row(const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, int pixel_bytes) {
    const uint8_t *from = filtered + 1;
    switch (*filtered) {
    case NONE: memcpy(row, from, count); return true;
    case UP:
        for (size_t i = 0; i < count; i++) row[i] = (uint8_t)(from[i] + above[i]);
        return true;
    case SUB: unfilter(SUB, from, above, row, count, pixel_bytes); return true;
    case AVERAGE: unfilter(AVERAGE, from, above, row, count, pixel_bytes); return true;
    case PAETH: unfilter(PAETH, from, above, row, count, pixel_bytes); return true;
    default: return false;
    }
}

VARIANTS(bool, rows, (const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, int pixel_bytes),
         unfilter_row(filtered, above, row, count, pixel_bytes))

bool halcyon_png_unfilter(const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, int pixel_bytes) {
    return VARIANT(rows)(filtered, above, row, count, pixel_bytes);
}
