#include "halcyon_pixels.h"
#include "pixels_internal.h"

#include <string.h>

void halcyon_draw(uint8_t *target, size_t stride, const uint8_t *source, size_t width, size_t height, bool over) {
    for (size_t y = 0; y < height; y++, target += stride, source += width * 4) {
        if (!over) {
            memcpy(target, source, width * 4);
            continue;
        }
        for (size_t x = 0; x < width; x++) {
            const uint8_t *from = source + x * 4;
            uint8_t *to = target + x * 4;
            uint32_t alpha = from[3];
            if (alpha == 255) {
                memcpy(to, from, 4);
            } else if (alpha != 0) {
                for (int i = 0; i < 4; i++) to[i] = (uint8_t)(from[i] + scaled(to[i], 255 - alpha));
            }
        }
    }
}
