#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs_internal.h"

void halcyon_set_message(halcyon_codec_call *call, const char *message) {
    snprintf(call->message, sizeof call->message, "%s", message != NULL ? message : "");
}

bool halcyon_reserve(halcyon_codec_output *output, size_t count) {
    if (count <= output->capacity - output->count) return true;
    if (count > SIZE_MAX / 2 - output->count) return false;
    size_t capacity = output->capacity < 4096 ? 4096 : output->capacity;
    while (capacity < output->count + count) {
        if (capacity > SIZE_MAX / 2) return false;
        capacity *= 2;
    }
    uint8_t *bytes = realloc(output->bytes, capacity);
    if (bytes == NULL) return false;
    output->bytes = bytes;
    output->capacity = capacity;
    return true;
}

bool halcyon_append(halcyon_codec_output *output, const uint8_t *bytes, size_t count) {
    if (!halcyon_reserve(output, count)) return false;
    memcpy(output->bytes + output->count, bytes, count);
    output->count += count;
    return true;
}

void halcyon_discard(halcyon_codec_output *output) {
    free(output->bytes);
    *output = (halcyon_codec_output){0};
}

void halcyon_premultiply(uint8_t *bgra, size_t pixels) {
    // No branch on alpha, so that the compiler can vectorize: alpha 255 and 0 give the right result as well.
    for (size_t i = 0; i < pixels; i++, bgra += 4) {
        uint32_t alpha = bgra[3];
        bgra[0] = halcyon_div255(bgra[0] * alpha);
        bgra[1] = halcyon_div255(bgra[1] * alpha);
        bgra[2] = halcyon_div255(bgra[2] * alpha);
    }
}

void halcyon_rgba_to_bgra(const uint8_t *rgba, uint8_t *bgra, size_t pixels, int bits) {
    static const int order[4] = {2, 1, 0, 3};
    if (bits <= 8) {
        for (size_t i = 0; i < pixels; i++, rgba += 4, bgra += 4) {
            // As a word, so that the loop becomes one of vectors. Both may be the same memory.
            uint32_t word;
            memcpy(&word, rgba, 4);
            word = (word & 0xFF00FF00u) | (word & 0xFFu) << 16 | (word >> 16 & 0xFFu);
            memcpy(bgra, &word, 4);
        }
        return;
    }
    uint32_t top = (1u << bits) - 1;
    for (size_t i = 0; i < pixels; i++, rgba += 8, bgra += 4) {
        for (int channel = 0; channel < 4; channel++) {
            const uint8_t *word = rgba + order[channel] * 2;
            uint32_t value = (uint32_t)word[0] | (uint32_t)word[1] << 8;
            // The values of a file may exceed its declared depth.
            if (value > top) value = top;
            bgra[channel] = (uint8_t)((value * 255 + top / 2) / top);
        }
    }
}

void halcyon_make_opaque(uint8_t *bgra, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) bgra[i * 4 + 3] = 255;
}
