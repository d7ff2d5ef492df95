// A reduction in linear light: each part of a few source rows is converted once, and then added to all result rows that it
// contributes to. It is read from the nearest cache meanwhile; the rows of the result that are begun take as much memory as
// the rows of bytes that the first way keeps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pixels_internal.h"
#include "resample_sink.h"

static size_t rounded_up(size_t count, size_t step) {
    return (count + step - 1) / step * step;
}

// Returns the largest number of result rows that are begun at the same time.
static size_t begun_rows(const kernel *down, int height) {
    int most = 1;
    for (int y = 0, end = 0; y < height; y++) {
        // The row is complete after the batch of its last source row.
        int next = down->items[y].first + down->items[y].count + light_rows - 1;
        while (end < height && down->items[end].first < next) end++;
        if (end - y > most) most = end - y;
    }
    return (size_t)most;
}

// Makes whole numbers of the weights. Each is rounded such that their sum up to it is nearest to the exact one: an edge is
// as exact as a pixel, and a uniform area is preserved.
static bool make_parts(halcyon_row_sink *sink) {
    const kernel *down = &sink->down;
    size_t height = (size_t)sink->result.height, longest = (size_t)down->longest;
    sink->parts = calloc(height * longest, sizeof *sink->parts);
    if (!sink->parts) return false;
    float largest = 0;
    for (size_t y = 0; y < height; y++) {
        for (int i = 0; i < down->items[y].count; i++) largest = fmaxf(largest, fabsf(down->items[y].weights[i]));
    }
    // As much as 16 bits hold. The absolute weights of a filter add up to less than 2.
    sink->one = largest < 0.98f ? 32768 : 16384;
    for (size_t y = 0; y < height; y++) {
        taps t = down->items[y];
        double sum = 0;
        int given = 0;
        for (int i = 0; i < t.count; i++) {
            sum += t.weights[i];
            int next = i == t.count - 1 ? sink->one : (int)lrint(sum * sink->one);
            sink->parts[y * longest + (size_t)i] = (int16_t)(next - given);
            given = next;
        }
    }
    return true;
}

bool halcyon_prepare_batches(halcyon_row_sink *sink) {
    size_t width = (size_t)sink->result.width, columns = sink->columns.end - sink->columns.first;
    sink->kept_rows = begun_rows(&sink->down, sink->result.height);
    // With a pixel that is read but has no effect; whole vectors, here and below.
    sink->stride = rounded_up(columns + 1, 8);
    size_t scaled = rounded_up(width, 8);
    sink->line = sink->scaled = allocate((scaled + sink->kept_rows * sink->stride) * sizeof *sink->line);
    sink->bytes = allocate(light_rows * sink->source_width * 4);
    sink->block = allocate(light_rows / 2 * light_pair * sizeof *sink->block);
    sink->picked = calloc(sink->kept_rows * light_rows, sizeof *sink->picked);
    if (!sink->line || !sink->bytes || !sink->block || !sink->picked) return false;
    sink->kept = sink->line + scaled;
    // Only the columns that are needed are kept.
    for (size_t x = 0; x < width; x++) sink->across.items[x].first -= (int)sink->columns.first;
    return make_parts(sink);
}

// The rows of a batch that a result row needs, from the first row of the batch on.
typedef struct {
    int from, to;
} part;

static part needed(const halcyon_row_sink *sink, int y, int first, int count) {
    taps t = sink->down.items[y];
    int from = t.first - first, to = from + t.count;
    return (part){from < 0 ? 0 : from, to > count ? count : to};
}

static int32_t *sums_of(const halcyon_row_sink *sink, int y) {
    return (int32_t *)(sink->kept + (size_t)y % sink->kept_rows * sink->stride);
}

// Picks the weights of the batch's rows for each result row that is begun. Those of other rows are 0.
static void pick_weights(halcyon_row_sink *sink, int first, int count) {
    size_t longest = (size_t)sink->down.longest;
    int16_t *picked = sink->picked;
    memset(picked, 0, (size_t)(sink->begun - sink->done) * light_rows * sizeof *picked);
    for (int y = sink->done; y < sink->begun; y++, picked += light_rows) {
        const int16_t *parts = sink->parts + (size_t)y * longest;
        part rows = needed(sink, y, first, count);
        for (int i = rows.from; i < rows.to; i++) picked[i] = parts[first + i - sink->down.items[y].first];
    }
}

// Adds the present block, of the columns from `x` on, to the result rows that are begun.
static void add_block(halcyon_row_sink *sink, int first, int count, size_t x, size_t columns) {
    const int16_t *picked = sink->picked;
    for (int y = sink->done; y < sink->begun; y++, picked += light_rows) {
        part rows = needed(sink, y, first, count);
        if (rows.from >= rows.to) continue;
        size_t from = (size_t)rows.from / 2, to = ((size_t)rows.to + 1) / 2;
        halcyon_light_weigh(sink->block + from * light_pair, picked + from * 2, to - from, rounded_up(columns, 8),
                            sink->down.items[y].first >= first, sums_of(sink, y) + x * 4);
    }
}

// Adds `count` rows to the result rows that need them, and makes those that are complete.
static void add_batch(halcyon_row_sink *sink, int first, int count, const uint8_t **rows) {
    const taps *items = sink->down.items;
    int height = sink->result.height;
    size_t width = (size_t)sink->result.width, columns = sink->columns.end - sink->columns.first;
    while (sink->begun < height && items[sink->begun].first < first + count) sink->begun++;
    pick_weights(sink, first, count);
    // The number of rows is even.
    if (count % 2 != 0) rows[count] = rows[0];
    for (size_t x = 0; x < columns; x += light_pixels) {
        size_t some = columns - x < light_pixels ? columns - x : light_pixels;
        halcyon_light_block(rows, ((size_t)count + 1) / 2, sink->columns.first + x, some, sink->block);
        add_block(sink, first, count, x, some);
    }
    for (; sink->done < sink->begun && items[sink->done].first + items[sink->done].count <= first + count;
         sink->done++) {
        float4 *line = halcyon_light_finish(sums_of(sink, sink->done), rounded_up(columns, 8));
        halcyon_weigh_line(line, sink->scaled, sink->across.items, width);
        halcyon_light_store(sink->scaled, width, 1 / ((float)light_white * (float)sink->one),
                            sink->result.pixels + (size_t)sink->done * width * 4);
    }
}

void halcyon_batch_row(halcyon_row_sink *sink, int row, const uint8_t *pixels) {
    int first = halcyon_first_row(sink), end = halcyon_end_row(sink);
    if (row < first || row >= end) return;
    size_t stride = sink->source_width * 4;
    int place = (row - first) % light_rows;
    memcpy(sink->bytes + (size_t)place * stride, pixels, stride);
    if (place != light_rows - 1 && row != end - 1) return;
    const uint8_t *rows[light_rows];
    for (int i = 0; i <= place; i++) rows[i] = sink->bytes + (size_t)i * stride;
    add_batch(sink, row - place, place + 1, rows);
}

halcyon_status halcyon_batch_all(halcyon_row_sink *sink, halcyon_bitmap source, halcyon_cancelled cancelled,
                                 void *context) {
    int end = halcyon_end_row(sink);
    for (int first = halcyon_first_row(sink); first < end; first += light_rows) {
        if (cancelled && cancelled(context)) return HALCYON_CANCELLED;
        int count = end - first < light_rows ? end - first : light_rows;
        const uint8_t *rows[light_rows];
        for (int i = 0; i < count; i++) rows[i] = source.pixels + (size_t)(first + i) * source.stride;
        add_batch(sink, first, count, rows);
    }
    return HALCYON_OK;
}
