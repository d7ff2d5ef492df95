// Separable convolution: each source row is scaled across once, into a ring of the rows that the next result row needs,
// so that memory grows with the result's width and never with the source's height.
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
    int most;  // the largest count
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
    k->most = most;
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

static halcyon_status convolve(halcyon_bitmap source, halcyon_bitmap result, const kernel *across, const kernel *down,
                               halcyon_cancelled cancelled, void *context) {
    size_t width = (size_t)result.width, ring_rows = (size_t)down->most;
    float4 *memory = NULL;
    if (posix_memalign((void **)&memory, 64, (((size_t)source.width) + width * (ring_rows + 1)) * sizeof *memory) != 0)
        return HALCYON_NO_MEMORY;
    float4 *line = memory, *sum = line + source.width, *ring = sum + width;
    taps left = across->items[0], right = across->items[result.width - 1];
    int first = left.first, last = right.first + right.count;
    int ready = down->items[0].first;  // rows before it are in the ring, or no longer needed
    halcyon_status status = HALCYON_OK;
    for (int y = 0; y < result.height; y++) {
        if ((y & 15) == 0 && cancelled && cancelled(context)) {
            status = HALCYON_CANCELLED;
            break;
        }
        taps t = down->items[y];
        if (ready < t.first) ready = t.first;
        for (; ready < t.first + t.count; ready++) {
            scale_across(source.pixels + (size_t)ready * (size_t)source.width * 4, first, last, line,
                         ring + ((size_t)ready % ring_rows) * width, across, result.width);
        }
        for (int j = 0; j < t.count; j++) {
            add_down(sum, ring + ((size_t)(t.first + j) % ring_rows) * width, t.weights[j], result.width, j == 0);
        }
        uint8_t *out = result.pixels + (size_t)y * width * 4;
        for (size_t x = 0; x < width; x++) store(out + x * 4, sum[x], true);
    }
    free(memory);
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
    halcyon_status status = convolve(source, result, &across, &down, cancelled, context);
    free_kernel(&across);
    free_kernel(&down);
    return status;
}
