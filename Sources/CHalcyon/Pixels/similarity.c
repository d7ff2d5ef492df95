// The structural similarity of two pictures at several sizes. All of it is whole numbers but two divisions of a window, whose
// rounding IEEE 754 defines, so that it is the same on every machine.
#include "halcyon_pixels.h"
#include "pixels_internal.h"

#include <string.h>

enum { SCALES = HALCYON_SIMILARITY_SCALES, FIRST_OF_CHROMA = 2, BLOCK = 4, LEAST = 8 };

// One plane at one scale. Its rows and columns are continued by the outermost pixels, up to whole blocks and two of them at
// least; `width` and `height` are those of the picture, 0 for a scale that there is not.
typedef struct {
    uint8_t *pixels;
    size_t width, height;
    size_t stride, rows;
} plane;

struct halcyon_planes {
    plane planes[HALCYON_SIMILARITY_CHANNELS][SCALES];
};

static size_t padded(size_t side) {
    size_t blocks = (side + BLOCK - 1) / BLOCK * BLOCK;
    return blocks < LEAST ? LEAST : blocks;
}

static bool make_plane(plane *p, size_t width, size_t height) {
    *p = (plane){NULL, width, height, padded(width), padded(height)};
    p->pixels = allocate(p->stride * p->rows);
    return p->pixels != NULL;
}

void halcyon_planes_free(halcyon_planes *planes) {
    if (!planes) return;
    for (int channel = 0; channel < HALCYON_SIMILARITY_CHANNELS; channel++) {
        for (int scale = 0; scale < SCALES; scale++) free(planes->planes[channel][scale].pixels);
    }
    free(planes);
}

// MARK: Planes

static void extend_row(plane *p, size_t y) {
    uint8_t *row = p->pixels + y * p->stride;
    memset(row + p->width, row[p->width - 1], p->stride - p->width);
}

static void extend_rows(plane *p) {
    const uint8_t *last = p->pixels + (p->height - 1) * p->stride;
    for (size_t y = p->height; y < p->rows; y++) memcpy(p->pixels + y * p->stride, last, p->stride);
}

// Returns a channel as it shows over a ground.
ALWAYS uint32_t shown(uint32_t channel, uint32_t alpha, uint32_t ground, bool is_opaque) {
    if (is_opaque) return channel;
    uint32_t sum = channel + scaled(255 - alpha, ground);
    // A channel above its alpha is not a valid pixel, but a processor may have made one.
    return sum > 255 ? 255 : sum;
}

// The sums of the colours of each column over four rows.
typedef struct {
    uint16_t *blue, *green, *red;
} columns;

// Writes the luma of a row, if `luma` is not NULL, and adds its colours to those of the rows above.
ALWAYS void add_row(const uint8_t *pixels, size_t width, uint32_t ground, bool is_opaque, uint8_t *luma, columns sums) {
    uint32_t under_blue = ground & 255, under_green = ground >> 8 & 255, under_red = ground >> 16 & 255;
    for (size_t x = 0; x < width; x++) {
        const uint8_t *pixel = pixels + x * 4;
        uint32_t blue = shown(pixel[0], pixel[3], under_blue, is_opaque);
        uint32_t green = shown(pixel[1], pixel[3], under_green, is_opaque);
        uint32_t red = shown(pixel[2], pixel[3], under_red, is_opaque);
        // 0.299, 0.587 and 0.114 of 256, which is their sum.
        if (luma) luma[x] = (uint8_t)((77 * red + 150 * green + 29 * blue + 128) >> 8);
        sums.blue[x] = (uint16_t)(sums.blue[x] + blue);
        sums.green[x] = (uint16_t)(sums.green[x] + green);
        sums.red[x] = (uint16_t)(sums.red[x] + red);
    }
}

ALWAYS void add_any_row(const uint8_t *pixels, size_t width, uint32_t ground, bool is_opaque, uint8_t *luma, columns sums) {
    if (is_opaque) {
        add_row(pixels, width, ground, true, luma, sums);
    } else {
        add_row(pixels, width, ground, false, luma, sums);
    }
}

VARIANTS(void, add,
         (const uint8_t *pixels, size_t width, uint32_t ground, bool is_opaque, uint8_t *luma, columns sums),
         add_any_row(pixels, width, ground, is_opaque, luma, sums))

// Returns a difference of colours from the sums of sixteen pixels.
static uint8_t chroma(int64_t sum) {
    int64_t value = (sum + 2048) >> 12;
    value += 128;
    return value > 255 ? 255 : value < 0 ? 0 : (uint8_t)value;
}

// Writes a row of both chromas, each pixel by four columns, of which those behind the last one repeat it.
static void write_chroma(columns sums, size_t width, uint8_t *blues, uint8_t *reds) {
    for (size_t x = 0; x < width; x += BLOCK) {
        int64_t blue = 0, green = 0, red = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            size_t column = x + i < width ? x + i : width - 1;
            blue += sums.blue[column];
            green += sums.green[column];
            red += sums.red[column];
        }
        blues[x / BLOCK] = chroma(128 * blue - 85 * green - 43 * red);
        reds[x / BLOCK] = chroma(128 * red - 107 * green - 21 * blue);
    }
}

// Fills the first scale of luma and of both chromas, which have a quarter of its sides.
static halcyon_status read_pixels(halcyon_planes *planes, halcyon_bitmap source, uint32_t ground, bool is_opaque,
                                  columns sums, halcyon_cancelled cancelled, void *context) {
    size_t width = (size_t)source.width, height = (size_t)source.height;
    plane *luma = &planes->planes[0][0];
    plane *blues = &planes->planes[1][FIRST_OF_CHROMA], *reds = &planes->planes[2][FIRST_OF_CHROMA];
    for (size_t top = 0; top < height; top += BLOCK) {
        if ((top & 15) == 0 && cancelled && cancelled(context)) return HALCYON_CANCELLED;
        memset(sums.blue, 0, width * 3 * sizeof *sums.blue);
        for (size_t i = 0; i < BLOCK; i++) {
            size_t y = top + i < height ? top + i : height - 1;
            const uint8_t *pixels = source.pixels + y * source.stride;
            VARIANT(add)(pixels, width, ground, is_opaque, top + i < height ? luma->pixels + y * luma->stride : NULL, sums);
            if (top + i < height) extend_row(luma, y);
        }
        size_t row = top / BLOCK;
        write_chroma(sums, width, blues->pixels + row * blues->stride, reds->pixels + row * reds->stride);
        extend_row(blues, row);
        extend_row(reds, row);
    }
    extend_rows(luma);
    extend_rows(blues);
    extend_rows(reds);
    return HALCYON_OK;
}

// Writes the means of two by two pixels, rounded.
ALWAYS void halve_rows(const uint8_t *upper, const uint8_t *lower, uint8_t *out, size_t width) {
    for (size_t x = 0; x < width; x++) {
        out[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) >> 2);
    }
}

VARIANTS(void, halve, (const uint8_t *upper, const uint8_t *lower, uint8_t *out, size_t width),
         halve_rows(upper, lower, out, width))

// Adds the further scales of a channel, as long as each has two windows on a side.
static bool add_scales(plane *scales, int first) {
    for (int scale = first; scale + 1 < SCALES; scale++) {
        plane *from = &scales[scale], *to = &scales[scale + 1];
        if (from->width < 2 * LEAST || from->height < 2 * LEAST) break;
        if (!make_plane(to, (from->width + 1) / 2, (from->height + 1) / 2)) return false;
        for (size_t y = 0; y < to->height; y++) {
            const uint8_t *upper = from->pixels + 2 * y * from->stride;
            VARIANT(halve)(upper, upper + from->stride, to->pixels + y * to->stride, to->width);
            extend_row(to, y);
        }
        extend_rows(to);
    }
    return true;
}

static halcyon_status fill(halcyon_planes *planes, halcyon_bitmap source, uint32_t ground, bool is_opaque,
                           halcyon_cancelled cancelled, void *context) {
    size_t width = (size_t)source.width, height = (size_t)source.height;
    size_t across = (width + BLOCK - 1) / BLOCK, down = (height + BLOCK - 1) / BLOCK;
    if (!make_plane(&planes->planes[0][0], width, height)) return HALCYON_NO_MEMORY;
    for (int channel = 1; channel < HALCYON_SIMILARITY_CHANNELS; channel++) {
        if (!make_plane(&planes->planes[channel][FIRST_OF_CHROMA], across, down)) return HALCYON_NO_MEMORY;
    }
    uint16_t *memory = allocate(width * 3 * sizeof *memory);
    if (!memory) return HALCYON_NO_MEMORY;
    columns sums = {memory, memory + width, memory + 2 * width};
    halcyon_status status = read_pixels(planes, source, ground, is_opaque, sums, cancelled, context);
    free(memory);
    for (int channel = 0; channel < HALCYON_SIMILARITY_CHANNELS && status == HALCYON_OK; channel++) {
        if (!add_scales(planes->planes[channel], channel == 0 ? 0 : FIRST_OF_CHROMA)) status = HALCYON_NO_MEMORY;
    }
    return status;
}

halcyon_status halcyon_planes_create(halcyon_bitmap source, uint32_t ground, bool is_opaque, halcyon_planes **planes,
                                     halcyon_cancelled cancelled, void *context) {
    *planes = calloc(1, sizeof **planes);
    if (!*planes) return HALCYON_NO_MEMORY;
    halcyon_status status = fill(*planes, source, ground, is_opaque, cancelled, context);
    if (status != HALCYON_OK) {
        halcyon_planes_free(*planes);
        *planes = NULL;
    }
    return status;
}

// MARK: Comparison

// For each block of a row of blocks: the sums of either picture, of their squares together, and of their product.
typedef struct {
    uint32_t *one, *other, *squares, *products;
} blocks;

// Sums four rows column by column, then four columns each. `work` has the columns.
ALWAYS void sum_rows(const uint8_t *one, const uint8_t *other, size_t stride, blocks work, blocks sums) {
    for (size_t x = 0; x < stride; x++) {
        uint32_t a0 = one[x], a1 = one[stride + x], a2 = one[2 * stride + x], a3 = one[3 * stride + x];
        uint32_t b0 = other[x], b1 = other[stride + x], b2 = other[2 * stride + x], b3 = other[3 * stride + x];
        work.one[x] = a0 + a1 + a2 + a3;
        work.other[x] = b0 + b1 + b2 + b3;
        work.squares[x] = a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3 + b0 * b0 + b1 * b1 + b2 * b2 + b3 * b3;
        work.products[x] = a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
    }
    for (size_t i = 0, x = 0; x < stride; i++, x += 4) {
        sums.one[i] = work.one[x] + work.one[x + 1] + work.one[x + 2] + work.one[x + 3];
        sums.other[i] = work.other[x] + work.other[x + 1] + work.other[x + 2] + work.other[x + 3];
        sums.squares[i] = work.squares[x] + work.squares[x + 1] + work.squares[x + 2] + work.squares[x + 3];
        sums.products[i] = work.products[x] + work.products[x + 1] + work.products[x + 2] + work.products[x + 3];
    }
}

VARIANTS(void, sum, (const uint8_t *one, const uint8_t *other, size_t stride, blocks work, blocks sums),
         sum_rows(one, other, stride, work, sums))

// Returns the sum over the windows of 8 x 8 pixels that two rows of blocks make, of 2^24 for equal pictures.
ALWAYS int64_t compare_rows(blocks upper, blocks lower, size_t count, bool has_luminance) {
    // (0.01 * 255)^2 and (0.03 * 255)^2, for sums of 64 pixels in the place of means.
    const int32_t c1 = 26634, c2 = 239708;
    int64_t total = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        int32_t one = (int32_t)(upper.one[i] + upper.one[i + 1] + lower.one[i] + lower.one[i + 1]);
        int32_t other = (int32_t)(upper.other[i] + upper.other[i + 1] + lower.other[i] + lower.other[i + 1]);
        uint32_t squares = upper.squares[i] + upper.squares[i + 1] + lower.squares[i] + lower.squares[i + 1];
        uint32_t products = upper.products[i] + upper.products[i + 1] + lower.products[i] + lower.products[i + 1];
        // At most 2^30: 64 times 64 pixels of 255 squared, of two pictures.
        int32_t variances = (int32_t)(squares * 64) - one * one - other * other;
        int32_t covariance = (int32_t)(products * 64) - one * other;
        float value = (float)(2 * covariance + c2) / (float)(variances + c2);
        if (has_luminance) value *= (float)(2 * one * other + c1) / (float)(one * one + other * other + c1);
        total += (int32_t)(value * 16777216.0f);
    }
    return total;
}

ALWAYS int64_t compare_any_rows(blocks upper, blocks lower, size_t count, bool has_luminance) {
    return has_luminance ? compare_rows(upper, lower, count, true) : compare_rows(upper, lower, count, false);
}

VARIANTS(int64_t, compare, (blocks upper, blocks lower, size_t count, bool has_luminance),
         compare_any_rows(upper, lower, count, has_luminance))

static blocks take(uint32_t **memory, size_t count) {
    blocks taken = {*memory, *memory + count, *memory + 2 * count, *memory + 3 * count};
    *memory += 4 * count;
    return taken;
}

static halcyon_status compare_planes(const plane *one, const plane *other, bool is_last, uint32_t *memory,
                                     halcyon_similarity_sum *result, halcyon_cancelled cancelled, void *context) {
    size_t count = one->stride / BLOCK;
    blocks work = take(&memory, one->stride), upper = take(&memory, count), lower = take(&memory, count);
    int64_t total = 0;
    for (size_t y = 0; y < one->rows; y += BLOCK) {
        if ((y & 15) == 0 && cancelled && cancelled(context)) return HALCYON_CANCELLED;
        VARIANT(sum)(one->pixels + y * one->stride, other->pixels + y * one->stride, one->stride, work, lower);
        if (y > 0) total += VARIANT(compare)(upper, lower, count, is_last);
        blocks former = upper;
        upper = lower;
        lower = former;
    }
    *result = (halcyon_similarity_sum){total, (int64_t)((count - 1) * (one->rows / BLOCK - 1))};
    return HALCYON_OK;
}

halcyon_status halcyon_planes_compare(const halcyon_planes *one, const halcyon_planes *other,
                                      halcyon_similarity *result, halcyon_cancelled cancelled, void *context) {
    memset(result, 0, sizeof *result);
    // The first plane has the longest rows of all: four numbers for each of its columns, and for two rows of blocks.
    uint32_t *memory = allocate(one->planes[0][0].stride * 6 * sizeof *memory);
    if (!memory) return HALCYON_NO_MEMORY;
    halcyon_status status = HALCYON_OK;
    for (int channel = 0; channel < HALCYON_SIMILARITY_CHANNELS; channel++) {
        for (int scale = 0; scale < SCALES && status == HALCYON_OK; scale++) {
            const plane *p = &one->planes[channel][scale];
            if (!p->pixels) continue;
            bool is_last = scale + 1 == SCALES || !one->planes[channel][scale + 1].pixels;
            status = compare_planes(p, &other->planes[channel][scale], is_last, memory, &result->sums[channel][scale],
                                    cancelled, context);
        }
    }
    free(memory);
    return status;
}
