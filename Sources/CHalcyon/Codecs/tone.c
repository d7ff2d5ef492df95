#include "tone.h"

#include <halcyon_variants.h>
#include <stdlib.h>
#include <string.h>

enum {
    /// The bits of a float below those that number a step of an octave.
    FRACTION_BITS = 23 - 5,
    /// The bits of a signal below those that number an entry of `light`.
    SIGNAL_BITS = 4,
    MAXIMUM_OCTAVES = 24,
    /// The number of pixels that pass from one loop to the next at a time.
    CHUNK = 64,
};

_Static_assert(1 << (23 - FRACTION_BITS) == HALCYON_TONE_STEPS, "a step is five bits of a float");
_Static_assert((1 << (16 - SIGNAL_BITS)) + 1 == HALCYON_TONE_LIGHTS, "entries are 16 signals apart");

/// A function of the numbers from `least` to `most`, both powers of two, as straight lines.
typedef struct {
    float least, most;
    /// The number of the first entry.
    int32_t first;
    /// The last entry is there twice, so that each has a next one.
    float values[MAXIMUM_OCTAVES * HALCYON_TONE_STEPS + 2];
} octaves;

struct halcyon_tone {
    float light[HALCYON_TONE_LIGHTS];
    bool is_of_scene;
    float luminance[3];
    float matrix[9];
    octaves display, scale, encoded;
};

static float power_of_two(int exponent) {
    uint32_t bits = (uint32_t)(exponent + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static bool copy(octaves *target, halcyon_tone_octaves source) {
    int count = source.highest - source.lowest;
    if (count < 1 || count > MAXIMUM_OCTAVES) return false;
    size_t last = (size_t)count * HALCYON_TONE_STEPS;
    memcpy(target->values, source.values, (last + 1) * sizeof(float));
    target->values[last + 1] = target->values[last];
    target->least = power_of_two(source.lowest);
    target->most = power_of_two(source.highest);
    target->first = (source.lowest + 127) * HALCYON_TONE_STEPS;
    return true;
}

halcyon_tone *halcyon_tone_create(const halcyon_tone_curves *curves) {
    halcyon_tone *tone = malloc(sizeof *tone);
    if (tone == NULL) return NULL;
    memcpy(tone->light, curves->light, sizeof tone->light);
    memcpy(tone->luminance, curves->luminance, sizeof tone->luminance);
    memcpy(tone->matrix, curves->matrix, sizeof tone->matrix);
    tone->is_of_scene = curves->display.values != NULL;
    bool is_whole = copy(&tone->scale, curves->scale) && copy(&tone->encoded, curves->encoded) &&
                    (!tone->is_of_scene || copy(&tone->display, curves->display));
    if (is_whole) return tone;
    free(tone);
    return NULL;
}

// Not fmaxf: the compiler makes one instruction of this, which answers `b` if either is no number.
ALWAYS float larger(float a, float b) { return a > b ? a : b; }

ALWAYS float smaller(float a, float b) { return a < b ? a : b; }

/// Returns the function of any `x`, which is within its bounds or moved there: no number leaves the table.
ALWAYS float value(const octaves *function, float x) {
    x = smaller(larger(x, function->least), function->most);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const float *entry = function->values + ((int32_t)(bits >> FRACTION_BITS) - function->first);
    float fraction = (float)(int32_t)(bits & ((1u << FRACTION_BITS) - 1)) * (1.0f / (1 << FRACTION_BITS));
    return entry[0] + (entry[1] - entry[0]) * fraction;
}

ALWAYS float light(const halcyon_tone *tone, uint16_t signal) {
    const float *entry = tone->light + (signal >> SIGNAL_BITS);
    float fraction = (float)(signal & ((1 << SIGNAL_BITS) - 1)) * (1.0f / (1 << SIGNAL_BITS));
    return entry[0] + (entry[1] - entry[0]) * fraction;
}

ALWAYS uint8_t rounded(float level) { return (uint8_t)(int32_t)(level + 0.5f); }

/// Turns the light of a scene into that of the display.
ALWAYS void show(const halcyon_tone *tone, float *red, float *green, float *blue, size_t count) {
    const float *l = tone->luminance;
    for (size_t i = 0; i < count; i++) {
        float gain = value(&tone->display, l[0] * red[i] + l[1] * green[i] + l[2] * blue[i]);
        red[i] *= gain;
        green[i] *= gain;
        blue[i] *= gain;
    }
}

/// Converts at most `CHUNK` pixels, in loops without branches, so that each becomes one of vectors.
ALWAYS void convert_chunk(const halcyon_tone *tone, const uint16_t *rgba, uint8_t *bgra, size_t count) {
    float red[CHUNK], green[CHUNK], blue[CHUNK];
    for (size_t i = 0; i < count; i++) {
        red[i] = light(tone, rgba[i * 4]);
        green[i] = light(tone, rgba[i * 4 + 1]);
        blue[i] = light(tone, rgba[i * 4 + 2]);
    }
    if (tone->is_of_scene) show(tone, red, green, blue, count);
    const float *m = tone->matrix;
    for (size_t i = 0; i < count; i++) {
        float r = red[i], g = green[i], b = blue[i];
        float scale = value(&tone->scale, larger(r, larger(g, b)));
        float red2 = larger(0, (m[0] * r + m[1] * g + m[2] * b) * scale);
        float green2 = larger(0, (m[3] * r + m[4] * g + m[5] * b) * scale);
        float blue2 = larger(0, (m[6] * r + m[7] * g + m[8] * b) * scale);
        // A colour beyond sRGB is darkened as a whole, so that it keeps its hue.
        float fitting = 1 / larger(1, larger(red2, larger(green2, blue2)));
        red[i] = value(&tone->encoded, red2 * fitting);
        green[i] = value(&tone->encoded, green2 * fitting);
        blue[i] = value(&tone->encoded, blue2 * fitting);
    }
    for (size_t i = 0; i < count; i++) {
        bgra[i * 4] = rounded(blue[i]);
        bgra[i * 4 + 1] = rounded(green[i]);
        bgra[i * 4 + 2] = rounded(red[i]);
        bgra[i * 4 + 3] = (uint8_t)((rgba[i * 4 + 3] * 255u + 32767u) / 65535u);
    }
}

ALWAYS void convert_all(const halcyon_tone *tone, const uint16_t *rgba, uint8_t *bgra, size_t count) {
    for (; count >= CHUNK; count -= CHUNK, rgba += CHUNK * 4, bgra += CHUNK * 4) {
        convert_chunk(tone, rgba, bgra, CHUNK);
    }
    convert_chunk(tone, rgba, bgra, count);
}

VARIANTS(void, convert, (const halcyon_tone *tone, const uint16_t *rgba, uint8_t *bgra, size_t count),
         convert_all(tone, rgba, bgra, count))

void halcyon_tone_convert_words(const halcyon_tone *tone, const uint16_t *rgba, uint8_t *bgra, size_t pixels) {
    VARIANT(convert)(tone, rgba, bgra, pixels);
}

void halcyon_tone_convert_bytes(const halcyon_tone *tone, uint8_t *bgra, size_t pixels) {
    uint16_t words[CHUNK * 4];
    while (pixels > 0) {
        size_t count = pixels < CHUNK ? pixels : CHUNK;
        for (size_t i = 0; i < count; i++) {
            words[i * 4] = bgra[i * 4 + 2] * 257;
            words[i * 4 + 1] = bgra[i * 4 + 1] * 257;
            words[i * 4 + 2] = bgra[i * 4] * 257;
            words[i * 4 + 3] = bgra[i * 4 + 3] * 257;
        }
        VARIANT(convert)(tone, words, bgra, count);
        bgra += count * 4;
        pixels -= count;
    }
}
