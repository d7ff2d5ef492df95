// A scaling that is under way, for the files that share it.
#ifndef HALCYON_RESAMPLE_SINK_H
#define HALCYON_RESAMPLE_SINK_H

#include <stdbool.h>

#include "halcyon_deep.h"
#include "halcyon_pixels.h"
#include "light.h"
#include "resample_kernels.h"

typedef struct {
    taps *items;
    float *weights;
    int longest;  // the largest count
} kernel;

// Makes the weights of `result` pixels from `length` pixels of a source, from `from` on. False if there is no memory.
bool halcyon_make_kernel(kernel *k, int source, double from, double length, int result,
                         halcyon_filter filter);
void halcyon_free_kernel(kernel *k);

typedef struct {
    size_t first, end;
} span;

// The most rows that are kept. With more, reading them side by side touches more pages than a processor's translation
// cache holds, and the second way is as fast.
enum { most_kept = 112 };

struct halcyon_row_sink {
    halcyon_bitmap result;
    size_t source_width;
    kernel across, down;
    // The columns of the source that any result pixel needs.
    span columns;
    // With kernels: room for one row of the source, followed by a row of the result and the rows that are kept.
    float4 *line, *scaled, *kept;
    size_t kept_rows;
    // Whether pixels are converted to linear light and back.
    bool is_linear;
    // Whether channels have 16 bits, and which.
    bool is_deep;
    halcyon_deep_pixels deep;
    // The light of each word, if there are many pixels.
    float *light_table;
    size_t pixel_size;
    enum { weighing_first, gathering, scattering } way;
    // For the first way: the weights of each result row, in parts of 16,384 or of `one`, and the rows of bytes.
    int16_t *parts;
    uint8_t *bytes;
    // For the first way in linear light: the parts of a weight of 1, the pixels from one kept row to the next, the present
    // part of the source, and the weights of its rows for each result row that is begun.
    int one;
    size_t stride;
    int16_t *block, *picked;
    int begun, done;  // result rows
    // Checked while one source row makes many result rows, as all of the work is within that row.
    halcyon_cancelled cancelled;
    void *context;
    bool is_cancelled;
    // Without kernels: the offset of the part that is copied.
    int left, top;
};

// Returns the rows of the source that any result pixel needs.
int halcyon_first_row(const halcyon_row_sink *sink);
int halcyon_end_row(const halcyon_row_sink *sink);

// The first way in linear light.
bool halcyon_prepare_batches(halcyon_row_sink *sink);
// Takes the next row.
void halcyon_batch_row(halcyon_row_sink *sink, int row, const uint8_t *pixels);
// Takes all rows.
halcyon_status halcyon_batch_all(halcyon_row_sink *sink, halcyon_bitmap source, halcyon_cancelled cancelled,
                                 void *context);

#endif
