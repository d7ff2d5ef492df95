#include "halcyon_deep.h"

#include <string.h>

// Tiles of this side stay in the first-level cache while rows become columns.
enum { tile = 32 };

// Compiled for each size of a pixel.
static inline __attribute__((always_inline)) halcyon_status orient(
    halcyon_bitmap source, halcyon_bitmap result, int orientation, long size, halcyon_cancelled cancelled, void *context) {
    long width = source.width, height = source.height, line = (long)source.stride;
    // The place of the source's first pixel, and the distances that a step right and a step down in the source move
    // there.
    long start = 0, right = 1, down = result.width;
    switch (orientation) {
    case 2: start = width - 1; right = -1; break;
    case 3: start = width * height - 1; right = -1; down = -width; break;
    case 4: start = (height - 1) * width; down = -width; break;
    case 5: right = height; down = 1; break;
    case 6: start = height - 1; right = height; down = -1; break;
    case 7: start = width * height - 1; right = -height; down = -1; break;
    case 8: start = (width - 1) * height; right = -height; down = 1; break;
    default: break;
    }
    for (long top = 0; top < height; top += tile) {
        if (cancelled && cancelled(context)) return HALCYON_CANCELLED;
        long bottom = top + tile < height ? top + tile : height;
        for (long left = 0; left < width; left += tile) {
            long edge = left + tile < width ? left + tile : width;
            for (long y = top; y < bottom; y++) {
                const uint8_t *row = source.pixels + y * line;
                for (long x = left; x < edge; x++) {
                    memcpy(result.pixels + (start + x * right + y * down) * size, row + x * size, (size_t)size);
                }
            }
        }
    }
    return HALCYON_OK;
}

halcyon_status halcyon_orient(halcyon_bitmap source, halcyon_bitmap result, int orientation,
                              halcyon_cancelled cancelled, void *context) {
    return orient(source, result, orientation, 4, cancelled, context);
}

halcyon_status halcyon_deep_orient(halcyon_bitmap source, halcyon_bitmap result, int orientation,
                                   halcyon_cancelled cancelled, void *context) {
    return orient(source, result, orientation, 8, cancelled, context);
}
