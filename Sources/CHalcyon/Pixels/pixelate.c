#include "halcyon_pixels.h"

#include <stdlib.h>
#include <string.h>

// Writes the first row of a line of blocks, each block with its mean. `sums` has four places for a block.
static void make_row(uint8_t *out, const uint64_t *sums, size_t width, size_t block, size_t rows) {
    for (size_t x = 0, i = 0; x < width; x += block, i += 4) {
        size_t columns = width - x < block ? width - x : block;
        uint64_t count = columns * rows;
        uint8_t mean[4];
        for (int c = 0; c < 4; c++) mean[c] = (uint8_t)((sums[i + c] + count / 2) / count);
        for (size_t k = 0; k < columns; k++) memcpy(out + (x + k) * 4, mean, 4);
    }
}

static void add_row(const uint8_t *in, uint64_t *sums, size_t width, size_t block) {
    for (size_t x = 0, i = 0; x < width; x += block, i += 4) {
        size_t end = width - x < block ? width : x + block;
        uint32_t parts[4] = {0};
        for (size_t k = x; k < end; k++) {
            for (int c = 0; c < 4; c++) parts[c] += in[k * 4 + c];
        }
        for (int c = 0; c < 4; c++) sums[i + c] += parts[c];
    }
}

halcyon_status halcyon_pixelate(halcyon_bitmap source, halcyon_bitmap result, int side, halcyon_cancelled cancelled,
                                void *context) {
    size_t width = (size_t)source.width, height = (size_t)source.height, block = (size_t)side;
    size_t places = (width + block - 1) / block * 4;
    uint64_t *sums = malloc(places * sizeof *sums);
    if (!sums) return HALCYON_NO_MEMORY;
    halcyon_status status = HALCYON_OK;
    for (size_t top = 0; top < height && status == HALCYON_OK; top += block) {
        size_t bottom = height - top < block ? height : top + block;
        memset(sums, 0, places * sizeof *sums);
        for (size_t y = top; y < bottom && status == HALCYON_OK; y++) {
            if ((y & 15) == 0 && cancelled && cancelled(context)) status = HALCYON_CANCELLED;
            add_row(source.pixels + y * source.stride, sums, width, block);
        }
        uint8_t *first = result.pixels + top * result.stride;
        make_row(first, sums, width, block, bottom - top);
        for (size_t y = top + 1; y < bottom; y++) memcpy(result.pixels + y * result.stride, first, width * 4);
    }
    free(sums);
    return status;
}
