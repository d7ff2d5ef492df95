// Opaque pixels without their alpha: three bytes a pixel.
#include "halcyon_pixels.h"

#include <string.h>

void halcyon_pack(const uint8_t *restrict pixels, size_t count, uint8_t *restrict packed) {
    size_t done = 0;
    for (; done + 4 <= count; done += 4) {
        uint32_t in[4], out[3];
        memcpy(in, pixels + done * 4, 16);
        for (int i = 0; i < 4; i++) in[i] &= 0xFFFFFF;
        out[0] = in[0] | in[1] << 24;
        out[1] = in[1] >> 8 | in[2] << 16;
        out[2] = in[2] >> 16 | in[3] << 8;
        memcpy(packed + done * 3, out, 12);
    }
    for (; done < count; done++) memcpy(packed + done * 3, pixels + done * 4, 3);
}

void halcyon_unpack(const uint8_t *restrict packed, size_t count, uint8_t *restrict pixels) {
    size_t done = 0;
    for (; done + 4 <= count; done += 4) {
        uint32_t in[3], out[4];
        memcpy(in, packed + done * 3, 12);
        out[0] = in[0];
        out[1] = in[0] >> 24 | in[1] << 8;
        out[2] = in[1] >> 16 | in[2] << 16;
        out[3] = in[2] >> 8;
        for (int i = 0; i < 4; i++) out[i] |= 0xFF000000;
        memcpy(pixels + done * 4, out, 16);
    }
    for (; done < count; done++) {
        memcpy(pixels + done * 4, packed + done * 3, 3);
        pixels[done * 4 + 3] = 0xFF;
    }
}
