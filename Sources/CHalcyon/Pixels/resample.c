// Separable convolution, in one of three ways:
// - A reduction whose result rows need few rows of the source keeps these in a ring, weighs them into one row, and
//   scales that across: bytes are read unchanged, many at a time.
// - A reduction that needs many adds each source row, scaled across, to the few result rows that it contributes to.
// - An enlargement scales each source row across and keeps it until the last result row that needs it is made.
// In linear light, rows are converted when they are read, and results when they are written; the first way is another one,
// in resample_batches.c.
// Pixels of 16 bits a channel are converted in the same places, and take the second or the third way.
// No more than 112 rows are kept, however high the source is.
#include "deep.h"
#include "halcyon_pixels.h"
#include "pixels_internal.h"
#include "resample_sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline void store(uint8_t *pixel, float4 value, bool premultiplied) {
    value += 0.5f;
    value = __builtin_elementwise_max(value, (float4){0, 0, 0, 0});
    value = __builtin_elementwise_min(value, (float4){255, 255, 255, 255});
    if (premultiplied) {
        // The filter's negative lobes can raise a colour above its alpha, which would glow at soft edges.
        float alpha = value[3];
        value = __builtin_elementwise_min(value, (float4){alpha, alpha, alpha, alpha});
    }
    typedef uint8_t byte4 __attribute__((vector_size(4)));
    typedef int32_t int4 __attribute__((vector_size(16)));
    byte4 bytes = __builtin_convertvector(__builtin_convertvector(value, int4), byte4);
    memcpy(pixel, &bytes, 4);
}

static void add_down(float4 *sum, const float4 *row, float weight, int width, bool begin) {
    if (begin) {
        for (int x = 0; x < width; x++) sum[x] = row[x] * weight;
    } else {
        for (int x = 0; x < width; x++) sum[x] += row[x] * weight;
    }
}

static void store_row(const halcyon_row_sink *sink, int y, const float4 *sum) {
    size_t width = (size_t)sink->result.width;
    uint8_t *out = sink->result.pixels + (size_t)y * width * sink->pixel_size;
    if (sink->is_deep) return halcyon_deep_store_row(&sink->deep, sink->is_linear, sum, width, (uint16_t *)(void *)out);
    if (sink->is_linear) return halcyon_light_store(sum, width, 1.0f / light_white, out);
    for (size_t x = 0; x < width; x++) store(out + x * 4, sum[x], true);
}

static bool is_whole_number(double value) {
    return value == floor(value);
}

// Whether the part is only cut out of the source, without a change of a pixel.
static bool is_cut(halcyon_region region, halcyon_bitmap result) {
    return region.width == result.width && region.height == result.height && is_whole_number(region.x)
           && is_whole_number(region.y);
}

// Returns the largest number of result rows that share a source row: a handful in a reduction.
static size_t overlapping_rows(const kernel *down, int height) {
    int most = 1;
    for (int y = 0, end = 0; y < height; y++) {
        while (end < height && down->items[end].first < down->items[y].first + down->items[y].count) end++;
        if (end - y > most) most = end - y;
    }
    return (size_t)most;
}

// Returns the number of weights that a result row has room for, an even number.
static size_t parts_of(const kernel *down) {
    return ((size_t)down->longest + 1) & ~(size_t)1;
}

static bool make_parts(halcyon_row_sink *sink) {
    size_t count = parts_of(&sink->down);
    sink->parts = calloc((size_t)sink->result.height * count, sizeof *sink->parts);
    if (!sink->parts) return false;
    for (int y = 0; y < sink->result.height; y++) {
        taps t = sink->down.items[y];
        int16_t *parts = sink->parts + (size_t)y * count;
        int rest = 16384, largest = 0;
        for (int i = 0; i < t.count; i++) {
            parts[i] = (int16_t)lrintf(t.weights[i] * 16384);
            rest -= parts[i];
            if (parts[i] > parts[largest]) largest = i;
        }
        // The weights add up to exactly one, so that a uniform area is preserved.
        parts[largest] = (int16_t)(parts[largest] + rest);
    }
    return true;
}

static bool prepare(halcyon_row_sink *sink, int source_width, int source_height, halcyon_region region,
                    halcyon_filter filter) {
    size_t width = (size_t)sink->result.width;
    kernel *across = &sink->across, *down = &sink->down;
    if (!halcyon_make_kernel(across, source_width, region.x, region.width, sink->result.width, filter)) return false;
    if (!halcyon_make_kernel(down, source_height, region.y, region.height, sink->result.height, filter)) return false;
    taps left = across->items[0], right = across->items[sink->result.width - 1];
    sink->columns = (span){(size_t)left.first, (size_t)(right.first + right.count)};
    sink->way = sink->down.longest > most_kept                             ? scattering
                : region.height >= sink->result.height && !sink->is_deep ? weighing_first
                                                                          : gathering;
    if (sink->is_linear && sink->way == weighing_first) return halcyon_prepare_batches(sink);
    sink->kept_rows = sink->way == scattering ? overlapping_rows(&sink->down, sink->result.height)
                                              : (size_t)sink->down.longest;
    // One more pixel, which is read but has no effect.
    size_t rows = 1 + (sink->way == weighing_first ? 0 : sink->kept_rows), line = (size_t)source_width + 1;
    sink->line = allocate((line + width * rows) * sizeof *sink->line);
    if (!sink->line) return false;
    sink->scaled = sink->line + line;
    sink->kept = sink->scaled + width;
    if (sink->way != weighing_first) return true;
    sink->bytes = allocate(sink->kept_rows * (size_t)source_width * 4);
    return sink->bytes && make_parts(sink);
}

static halcyon_row_sink *create(int source_width, int source_height, halcyon_region region, halcyon_bitmap result,
                                const halcyon_deep_pixels *deep, halcyon_filter filter, halcyon_light light) {
    halcyon_row_sink *sink = calloc(1, sizeof *sink);
    if (!sink) return NULL;
    sink->is_deep = deep != NULL;
    if (deep) sink->deep = *deep;
    sink->pixel_size = deep ? 8 : 4;
    // One pixel alone is the same in any light.
    sink->is_linear = light == HALCYON_LIGHT_LINEAR && filter != HALCYON_FILTER_NEAREST;
    bool is_large = (size_t)source_width * (size_t)source_height >= least_for_table;
    if (deep && sink->is_linear && is_large) sink->light_table = halcyon_light_table(deep->channels, deep->transfer);
    sink->result = result;
    sink->source_width = (size_t)source_width;
    if (is_cut(region, result)) {
        sink->left = (int)region.x;
        sink->top = (int)region.y;
    } else if (!prepare(sink, source_width, source_height, region, filter)) {
        halcyon_row_sink_free(sink);
        return NULL;
    }
    return sink;
}

halcyon_row_sink *halcyon_row_sink_create(int source_width, int source_height, halcyon_region region,
                                          halcyon_bitmap result, halcyon_filter filter, halcyon_light light) {
    return create(source_width, source_height, region, result, NULL, filter, light);
}

void halcyon_row_sink_free(halcyon_row_sink *sink) {
    halcyon_free_kernel(&sink->across);
    halcyon_free_kernel(&sink->down);
    free(sink->line);
    free(sink->parts);
    free(sink->bytes);
    free(sink->block);
    free(sink->picked);
    free(sink->light_table);
    free(sink);
}

int halcyon_first_row(const halcyon_row_sink *sink) {
    return sink->line ? sink->down.items[0].first : sink->top;
}

int halcyon_end_row(const halcyon_row_sink *sink) {
    if (!sink->line) return sink->top + sink->result.height;
    taps last = sink->down.items[sink->result.height - 1];
    return last.first + last.count;
}

static void scale_row(halcyon_row_sink *sink, const uint8_t *row, float4 *target) {
    span columns = sink->columns;
    if (sink->is_deep) {
        const uint16_t *words = (const uint16_t *)(const void *)row + columns.first * 4;
        halcyon_deep_load_row(&sink->deep, sink->is_linear, sink->light_table, words, columns.end - columns.first,
                              sink->line + columns.first);
    } else if (sink->is_linear) {
        halcyon_light_row(row + columns.first * 4, columns.end - columns.first, sink->line + columns.first);
    } else {
        for (size_t x = columns.first; x < columns.end; x++) sink->line[x] = load(row + x * 4);
    }
    halcyon_weigh_line(sink->line, target, sink->across.items, (size_t)sink->result.width);
}

// Makes the next result row from the rows of bytes that it needs.
static void make_row(halcyon_row_sink *sink, const uint8_t *const *rows) {
    taps t = sink->down.items[sink->done];
    span columns = sink->columns;
    const uint8_t *moved[most_kept + 1];
    for (int i = 0; i < t.count; i++) moved[i] = rows[i] + columns.first * 4;
    // The number of weights is even.
    moved[t.count] = moved[0];
    const int16_t *parts = sink->parts + (size_t)sink->done * parts_of(&sink->down);
    halcyon_weigh_rows(moved, parts, ((size_t)t.count + 1) & ~(size_t)1, sink->line + columns.first,
                       columns.end - columns.first);
    halcyon_weigh_line(sink->line, sink->scaled, sink->across.items, (size_t)sink->result.width);
    store_row(sink, sink->done++, sink->scaled);
}

// The first way, with rows that arrive one by one.
static void keep_and_weigh(halcyon_row_sink *sink, int row, const uint8_t *pixels) {
    const taps *items = sink->down.items;
    if (row < items[sink->done].first) return;
    size_t stride = sink->source_width * 4;
    memcpy(sink->bytes + ((size_t)row % sink->kept_rows) * stride, pixels, stride);
    while (sink->done < sink->result.height && row >= items[sink->done].first + items[sink->done].count - 1) {
        taps t = items[sink->done];
        const uint8_t *rows[most_kept];
        for (int i = 0; i < t.count; i++) rows[i] = sink->bytes + ((size_t)(t.first + i) % sink->kept_rows) * stride;
        make_row(sink, rows);
    }
}

// The way for few source rows per result row.
static void gather(halcyon_row_sink *sink, int row, const uint8_t *pixels) {
    const taps *items = sink->down.items;
    int width = sink->result.width;
    if (row < items[sink->done].first) return;
    scale_row(sink, pixels, sink->kept + ((size_t)row % sink->kept_rows) * (size_t)width);
    while (sink->done < sink->result.height && row >= items[sink->done].first + items[sink->done].count - 1) {
        if ((sink->done & 15) == 0 && sink->cancelled && sink->cancelled(sink->context)) {
            sink->is_cancelled = true;
            return;
        }
        taps t = items[sink->done];
        for (int i = 0; i < t.count; i++) {
            const float4 *kept = sink->kept + ((size_t)(t.first + i) % sink->kept_rows) * (size_t)width;
            add_down(sink->scaled, kept, t.weights[i], width, i == 0);
        }
        store_row(sink, sink->done++, sink->scaled);
    }
}

// The way for many source rows per result row.
static void scatter(halcyon_row_sink *sink, int row, const uint8_t *pixels) {
    const taps *items = sink->down.items;
    int width = sink->result.width, height = sink->result.height;
    while (sink->begun < height && items[sink->begun].first <= row) sink->begun++;
    if (sink->begun == sink->done) return;
    scale_row(sink, pixels, sink->scaled);
    for (int y = sink->done; y < sink->begun; y++) {
        int i = row - items[y].first;
        // A repeated row is not needed.
        if (i < 0 || i >= items[y].count) continue;
        float4 *sum = sink->kept + ((size_t)y % sink->kept_rows) * (size_t)width;
        add_down(sum, sink->scaled, items[y].weights[i], width, i == 0);
    }
    for (; sink->done < sink->begun && row >= items[sink->done].first + items[sink->done].count - 1; sink->done++) {
        store_row(sink, sink->done, sink->kept + ((size_t)sink->done % sink->kept_rows) * (size_t)width);
    }
}

void halcyon_row_sink_put(halcyon_row_sink *sink, int row, const uint8_t *pixels) {
    if (sink->done == sink->result.height) return;
    if (!sink->line) {
        if (row < sink->top) return;
        size_t bytes = (size_t)sink->result.width * sink->pixel_size;
        memcpy(sink->result.pixels + (size_t)(sink->done++) * bytes, pixels + (size_t)sink->left * sink->pixel_size, bytes);
    } else if (sink->way == weighing_first) {
        (sink->is_linear ? halcyon_batch_row : keep_and_weigh)(sink, row, pixels);
    } else if (sink->way == scattering) {
        scatter(sink, row, pixels);
    } else {
        gather(sink, row, pixels);
    }
}

void halcyon_row_sink_close(halcyon_row_sink *sink) {
    sink->done = sink->result.height;
}

bool halcyon_row_sink_is_full(const halcyon_row_sink *sink) {
    return sink->done == sink->result.height;
}

// The first way, with all rows present.
static halcyon_status weigh_all(halcyon_row_sink *sink, halcyon_bitmap source, halcyon_cancelled cancelled,
                                void *context) {
    while (sink->done < sink->result.height) {
        if ((sink->done & 3) == 0 && cancelled && cancelled(context)) return HALCYON_CANCELLED;
        taps t = sink->down.items[sink->done];
        const uint8_t *rows[most_kept];
        for (int i = 0; i < t.count; i++) rows[i] = source.pixels + (size_t)(t.first + i) * source.stride;
        make_row(sink, rows);
    }
    return HALCYON_OK;
}

// Passes all rows to a sink, and frees it.
static halcyon_status resample(halcyon_row_sink *sink, halcyon_bitmap source, halcyon_cancelled cancelled, void *context) {
    if (!sink) return HALCYON_NO_MEMORY;
    halcyon_status status = HALCYON_OK;
    if (sink->line && sink->way == weighing_first) {
        status = (sink->is_linear ? halcyon_batch_all : weigh_all)(sink, source, cancelled, context);
    }
    int end = status == HALCYON_OK && !halcyon_row_sink_is_full(sink) ? halcyon_end_row(sink) : 0;
    sink->cancelled = cancelled;
    sink->context = context;
    for (int row = halcyon_first_row(sink); row < end && status == HALCYON_OK; row++) {
        if ((row & 15) == 0 && cancelled && cancelled(context)) {
            status = HALCYON_CANCELLED;
            break;
        }
        halcyon_row_sink_put(sink, row, source.pixels + (size_t)row * source.stride);
        if (sink->is_cancelled) status = HALCYON_CANCELLED;
    }
    halcyon_row_sink_free(sink);
    return status;
}

halcyon_status halcyon_resample(halcyon_bitmap source, halcyon_region region, halcyon_bitmap result,
                                halcyon_filter filter, halcyon_light light, halcyon_cancelled cancelled,
                                void *context) {
    return resample(create(source.width, source.height, region, result, NULL, filter, light), source, cancelled, context);
}

halcyon_status halcyon_deep_resample(halcyon_bitmap source, halcyon_region region, halcyon_bitmap result,
                                     halcyon_deep_pixels pixels, halcyon_filter filter, halcyon_light light,
                                     halcyon_cancelled cancelled, void *context) {
    return resample(create(source.width, source.height, region, result, &pixels, filter, light), source, cancelled, context);
}
