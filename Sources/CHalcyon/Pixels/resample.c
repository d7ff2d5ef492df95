// Separable convolution: each source row is scaled across once. Where a result row needs few of them they stay in a ring
// until the last one that needs them is made; where it needs many, each is added at once to the few result rows that it
// is a part of. So no more than 64 rows of the result's width are kept, however high the source is.
#include "halcyon_pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef float float4 __attribute__((vector_size(16)));

// The weights of the source pixels that make one result pixel.
typedef struct {
    int first;
    int count;
    const float *weights;
} taps;

typedef struct {
    taps *items;
    float *weights;
    int longest;  // the largest count
} kernel;

static double sinc(double x) {
    if (x == 0) return 1;
    x *= M_PI;
    return sin(x) / x;
}

static double weigh(halcyon_filter filter, double x) {
    x = fabs(x);
    switch (filter) {
    case HALCYON_FILTER_LANCZOS: return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case HALCYON_FILTER_BILINEAR: return x < 1 ? 1 - x : 0;
    default: return x < 0.5 ? 1 : 0;
    }
}

// The overlap of a source pixel with the span that a result pixel covers: exact area averaging.
static double overlap(int pixel, double from, double to) {
    double left = fmax(from, pixel), right = fmin(to, pixel + 1.0);
    return right > left ? right - left : 0;
}

static void free_kernel(kernel *k) {
    free(k->items);
    free(k->weights);
}

static bool make_kernel(kernel *k, int source, double from, double length, int result, halcyon_filter filter) {
    double scale = length / result;
    // A reduction widens the filter so that every source pixel counts; an enlargement does not narrow it.
    double stretch = fmax(scale, 1);
    double support = filter == HALCYON_FILTER_LANCZOS ? 3 * stretch : stretch;
    int most = (int)ceil(support * 2) + 2;
    if (most > source) most = source;
    k->items = calloc((size_t)result, sizeof *k->items);
    k->weights = calloc((size_t)result * (size_t)most, sizeof *k->weights);
    k->longest = 1;
    if (!k->items || !k->weights) {
        free_kernel(k);
        return false;
    }
    for (int i = 0; i < result; i++) {
        double centre = from + (i + 0.5) * scale;
        float *weights = k->weights + (size_t)i * (size_t)most;
        int first, last;
        if (filter == HALCYON_FILTER_NEAREST) {
            first = last = (int)floor(centre);
        } else if (filter == HALCYON_FILTER_AREA) {
            first = (int)floor(centre - stretch / 2);
            last = (int)ceil(centre + stretch / 2) - 1;
        } else {
            first = (int)ceil(centre - support - 0.5);
            last = (int)floor(centre + support - 0.5);
        }
        if (first < 0) first = 0;
        if (last > source - 1) last = source - 1;
        if (first > source - 1) first = source - 1;
        if (last < first) last = first;
        if (last - first + 1 > most) last = first + most - 1;
        double sum = 0;
        for (int j = first; j <= last; j++) {
            double w = filter == HALCYON_FILTER_NEAREST ? 1
                       : filter == HALCYON_FILTER_AREA
                           ? overlap(j, centre - stretch / 2, centre + stretch / 2)
                           : weigh(filter, (j + 0.5 - centre) / stretch);
            weights[j - first] = (float)w;
            sum += w;
        }
        if (sum == 0) {
            weights[0] = 1;
            sum = 1;
        }
        for (int j = 0; j <= last - first; j++) weights[j] = (float)(weights[j] / sum);
        k->items[i] = (taps){first, last - first + 1, weights};
        if (k->items[i].count > k->longest) k->longest = k->items[i].count;
    }
    return true;
}

static inline float4 load(const uint8_t *pixel) {
    uint8_t bytes __attribute__((vector_size(4)));
    memcpy(&bytes, pixel, 4);
    return __builtin_convertvector(bytes, float4);
}

static inline void store(uint8_t *pixel, float4 value, bool premultiplied) {
    value += 0.5f;
    value = __builtin_elementwise_max(value, (float4){0, 0, 0, 0});
    value = __builtin_elementwise_min(value, (float4){255, 255, 255, 255});
    if (premultiplied) {
        // The filter's negative lobes can lift a colour over its alpha, which would shine at soft edges.
        float alpha = value[3];
        value = __builtin_elementwise_min(value, (float4){alpha, alpha, alpha, alpha});
    }
    typedef uint8_t byte4 __attribute__((vector_size(4)));
    typedef int32_t int4 __attribute__((vector_size(16)));
    byte4 bytes = __builtin_convertvector(__builtin_convertvector(value, int4), byte4);
    memcpy(pixel, &bytes, 4);
}

static void scale_across(const uint8_t *row, int first, int last, float4 *line, float4 *result, const kernel *k,
                         int width) {
    for (int x = first; x < last; x++) line[x] = load(row + (size_t)x * 4);
    for (int x = 0; x < width; x++) {
        taps t = k->items[x];
        const float4 *pixels = line + t.first;
        float4 sum = {0, 0, 0, 0};
        for (int j = 0; j < t.count; j++) sum += pixels[j] * t.weights[j];
        result[x] = sum;
    }
}

static void add_down(float4 *sum, const float4 *row, float weight, int width, bool begin) {
    if (begin) {
        for (int x = 0; x < width; x++) sum[x] = row[x] * weight;
    } else {
        for (int x = 0; x < width; x++) sum[x] += row[x] * weight;
    }
}

static void store_row(halcyon_bitmap result, int y, const float4 *sum) {
    uint8_t *out = result.pixels + (size_t)y * (size_t)result.width * 4;
    for (size_t x = 0; x < (size_t)result.width; x++) store(out + x * 4, sum[x], true);
}

typedef struct {
    halcyon_bitmap source, result;
    const kernel *across, *down;
    halcyon_cancelled cancelled;
    void *context;
} job;

// Room for one row of the source, and behind it `rows` of the result.
static float4 *make_rows(const job *j, size_t rows) {
    float4 *memory = NULL;
    size_t pixels = (size_t)j->source.width + (size_t)j->result.width * rows;
    return posix_memalign((void **)&memory, 64, pixels * sizeof *memory) == 0 ? memory : NULL;
}

static bool is_cancelled(const job *j, int row) {
    return (row & 15) == 0 && j->cancelled && j->cancelled(j->context);
}

static void scale_row(const job *j, int row, float4 *line, float4 *target) {
    taps left = j->across->items[0], right = j->across->items[j->result.width - 1];
    scale_across(j->source.pixels + (size_t)row * (size_t)j->source.width * 4, left.first, right.first + right.count,
                 line, target, j->across, j->result.width);
}

// The way for few source rows a result row.
static halcyon_status gather(const job *j) {
    size_t width = (size_t)j->result.width, ring_rows = (size_t)j->down->longest;
    float4 *line = make_rows(j, ring_rows + 1);
    if (!line) return HALCYON_NO_MEMORY;
    float4 *sum = line + j->source.width, *ring = sum + width;
    int ready = j->down->items[0].first;  // rows before it are in the ring, or no longer needed
    halcyon_status status = HALCYON_OK;
    for (int y = 0; y < j->result.height; y++) {
        taps t = j->down->items[y];
        if (is_cancelled(j, y)) {
            status = HALCYON_CANCELLED;
            break;
        }
        if (ready < t.first) ready = t.first;
        for (; ready < t.first + t.count; ready++) {
            scale_row(j, ready, line, ring + ((size_t)ready % ring_rows) * width);
        }
        for (int i = 0; i < t.count; i++) {
            add_down(sum, ring + ((size_t)(t.first + i) % ring_rows) * width, t.weights[i], j->result.width, i == 0);
        }
        store_row(j->result, y, sum);
    }
    free(line);
    return status;
}

// The most result rows that share a source row: a handful in a reduction.
static size_t overlapping_rows(const kernel *down, int height) {
    int most = 1;
    for (int y = 0, end = 0; y < height; y++) {
        while (end < height && down->items[end].first < down->items[y].first + down->items[y].count) end++;
        if (end - y > most) most = end - y;
    }
    return (size_t)most;
}

// The way for many source rows a result row.
static halcyon_status scatter(const job *j) {
    const taps *items = j->down->items;
    int height = j->result.height;
    size_t width = (size_t)j->result.width, sums = overlapping_rows(j->down, height);
    float4 *line = make_rows(j, sums + 1);
    if (!line) return HALCYON_NO_MEMORY;
    float4 *scaled = line + j->source.width, *sum = scaled + width;
    halcyon_status status = HALCYON_OK;
    int done = 0, begun = 0;  // result rows
    for (int row = items[0].first; done < height; row++) {
        if (is_cancelled(j, row - items[0].first)) {
            status = HALCYON_CANCELLED;
            break;
        }
        scale_row(j, row, line, scaled);
        while (begun < height && items[begun].first <= row) begun++;
        for (int y = done; y < begun; y++) {
            int i = row - items[y].first;
            if (i >= items[y].count) continue;
            add_down(sum + ((size_t)y % sums) * width, scaled, items[y].weights[i], j->result.width, i == 0);
        }
        for (; done < begun && row >= items[done].first + items[done].count - 1; done++) {
            store_row(j->result, done, sum + ((size_t)done % sums) * width);
        }
    }
    free(line);
    return status;
}

halcyon_status halcyon_resample(halcyon_bitmap source, halcyon_region region, halcyon_bitmap result,
                                halcyon_filter filter, halcyon_cancelled cancelled, void *context) {
    kernel across, down;
    if (!make_kernel(&across, source.width, region.x, region.width, result.width, filter)) return HALCYON_NO_MEMORY;
    if (!make_kernel(&down, source.height, region.y, region.height, result.height, filter)) {
        free_kernel(&across);
        return HALCYON_NO_MEMORY;
    }
    job j = {source, result, &across, &down, cancelled, context};
    halcyon_status status = down.longest > 64 ? scatter(&j) : gather(&j);
    free_kernel(&across);
    free_kernel(&down);
    return status;
}
