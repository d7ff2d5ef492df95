// The light that a display of a high dynamic range shows of a picture with a gain map (ISO 21496-1).
#include <stdlib.h>

#include "deep.h"

// The values of a map that are looked up: each of 8 bits is one of them.
enum { steps = 255 * 8 };

typedef struct {
    float factors[3][steps + 2];
} gain_table;

static void fill(gain_table *table, const halcyon_gain *gain) {
    for (int channel = 0; channel < 3; channel++) {
        for (int i = 0; i <= steps; i++) {
            double amount = pow((double)i / (double)steps, gain->exponent[channel]);
            table->factors[channel][i] = (float)exp2(gain->minimum[channel] + gain->range[channel] * amount);
        }
        table->factors[channel][steps + 1] = table->factors[channel][steps];
    }
}

// A place between two pixels, or rows, of the map.
typedef struct {
    int first, second;
    float part;
} place;

static place place_of(int index, int count, int map_count) {
    float position = fmaxf(((float)index + 0.5f) * (float)map_count / (float)count - 0.5f, 0);
    int first = (int)position < map_count - 1 ? (int)position : map_count - 1;
    return (place){first, first + 1 < map_count ? first + 1 : first, fminf(position - (float)first, 1)};
}

// Red, green and blue of the map between four of its pixels, 0 to `steps`.
static void sample(const uint8_t *upper, const uint8_t *lower, place x, float down, float *rgb) {
    for (int channel = 0; channel < 3; channel++) {
        int blue = 2 - channel;
        float a = upper[x.first * 4 + blue], b = upper[x.second * 4 + blue];
        float c = lower[x.first * 4 + blue], d = lower[x.second * 4 + blue];
        float above = a + (b - a) * x.part, below = c + (d - c) * x.part;
        rgb[channel] = fminf((above + (below - above) * down) * (steps / 255), steps);
    }
}

static void mix(const double *matrix, float *rgb) {
    float mixed[3];
    for (int row = 0; row < 3; row++) {
        const double *m = matrix + row * 3;
        mixed[row] = (float)(m[0] * rgb[0] + m[1] * rgb[1] + m[2] * rgb[2]);
    }
    memcpy(rgb, mixed, sizeof mixed);
}

static void brighten(uint16_t *pixel, const float *values, const gain_table *table, const halcyon_gain *gain) {
    float4 color = load_words(pixel, HALCYON_CHANNELS_FLOAT16);
    float alpha = color[3];
    if (!(alpha > 0)) return;
    float rgb[3] = {color[0] / alpha, color[1] / alpha, color[2] / alpha};
    if (gain->mixes) mix(gain->matrix, rgb);
    for (int channel = 0; channel < 3; channel++) {
        int step = (int)values[channel];
        float part = values[channel] - (float)step;
        const float *factors = table->factors[channel] + step;
        float factor = factors[0] + (factors[1] - factors[0]) * part;
        rgb[channel] = (rgb[channel] + gain->base_offset[channel]) * factor - gain->alternate_offset[channel];
    }
    if (gain->mixes) mix(gain->inverse, rgb);
    store_words(pixel, (float4){rgb[0] * alpha, rgb[1] * alpha, rgb[2] * alpha, alpha}, HALCYON_CHANNELS_FLOAT16);
}

halcyon_status halcyon_deep_brighten(halcyon_bitmap light, halcyon_bitmap map, const halcyon_gain *gain,
                                     halcyon_cancelled cancelled, void *context) {
    gain_table *table = malloc(sizeof *table);
    place *places = malloc((size_t)light.width * sizeof *places);
    halcyon_status status = table && places ? HALCYON_OK : HALCYON_NO_MEMORY;
    if (status == HALCYON_OK) {
        fill(table, gain);
        for (int x = 0; x < light.width; x++) places[x] = place_of(x, light.width, map.width);
    }
    for (int y = 0; y < light.height && status == HALCYON_OK; y++) {
        if (y % 16 == 0 && cancelled && cancelled(context)) {
            status = HALCYON_CANCELLED;
            break;
        }
        place row = place_of(y, light.height, map.height);
        const uint8_t *upper = map.pixels + (size_t)row.first * map.stride;
        const uint8_t *lower = map.pixels + (size_t)row.second * map.stride;
        uint16_t *words = (uint16_t *)(void *)(light.pixels + (size_t)y * light.stride);
        for (int x = 0; x < light.width; x++) {
            float values[3];
            sample(upper, lower, places[x], row.part, values);
            brighten(words + (size_t)x * 4, values, table, gain);
        }
    }
    free(places);
    free(table);
    return status;
}
