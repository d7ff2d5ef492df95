// Colours of 16 bits a channel from one space to another, by way of linear light in which 1 is the white of ITU-R BT.2408,
// 203 cd/m2.
#include <stdlib.h>

#include "deep.h"

// The light of white, and the peaks of PQ and of the display that HLG is shown on, in cd/m2.
static const double white = 203, pq_peak = 10000, hlg_peak = 1000;
// The exponent by which a display of that peak shows the light of an HLG scene (BT.2100).
static const double hlg_gamma = 1.2;

static const double m1 = 2610.0 / 16384, m2 = 2523.0 / 4096 * 128;
static const double c1 = 3424.0 / 4096, c2 = 2413.0 / 4096 * 32, c3 = 2392.0 / 4096 * 32;
static const double hlg_a = 0.17883277, hlg_b = 0.28466892, hlg_c = 0.55991073;

double halcyon_light_of(double value, halcyon_transfer transfer) {
    double amount = fabs(value), light = amount;
    switch (transfer.curve) {
    case HALCYON_CURVE_LINEAR: break;
    case HALCYON_CURVE_SRGB: light = amount <= 0.04045 ? amount / 12.92 : pow((amount + 0.055) / 1.055, 2.4); break;
    case HALCYON_CURVE_GAMMA: light = pow(amount, transfer.gamma); break;
    case HALCYON_CURVE_PQ: {
        double power = pow(fmin(amount, 1), 1 / m2);
        light = pow(fmax(power - c1, 0) / (c2 - c3 * power), 1 / m1) * pq_peak / white;
        break;
    }
    case HALCYON_CURVE_HLG:
        amount = fmin(amount, 1);
        light = amount <= 0.5 ? amount * amount / 3 : (exp((amount - hlg_c) / hlg_a) + hlg_b) / 12;
        break;
    }
    return value < 0 ? -light : light;
}

float halcyon_value_of(float light, halcyon_transfer transfer) {
    float amount = fabsf(light), value = amount;
    switch (transfer.curve) {
    case HALCYON_CURVE_LINEAR: break;
    case HALCYON_CURVE_SRGB:
        value = amount <= 0.0031308f ? amount * 12.92f : 1.055f * powf(amount, 1 / 2.4f) - 0.055f;
        break;
    case HALCYON_CURVE_GAMMA: value = powf(amount, (float)(1 / transfer.gamma)); break;
    case HALCYON_CURVE_PQ: {
        if (!(light > 0)) return 0;
        double power = pow(fmin(light * white / pq_peak, 1), m1);
        return (float)pow((c1 + c2 * power) / (1 + c3 * power), m2);
    }
    case HALCYON_CURVE_HLG:
        if (!(light > 0)) return 0;
        amount = fminf(amount, 1);
        return amount <= 1 / 12.0f ? sqrtf(3 * amount) : (float)(hlg_a * log(12 * amount - hlg_b) + hlg_c);
    }
    return light < 0 ? -value : value;
}

// The luminance of BT.2020.
static float luminance(const float *rgb) { return 0.2627f * rgb[0] + 0.6780f * rgb[1] + 0.0593f * rgb[2]; }

// The light that a display shows of an HLG scene.
static void show_scene(float *rgb) {
    float scene = luminance(rgb);
    float gain = scene > 0 ? (float)(hlg_peak / white) * powf(scene, (float)(hlg_gamma - 1)) : 0;
    for (int i = 0; i < 3; i++) rgb[i] *= gain;
}

// The scene of which a display shows this light.
static void find_scene(float *rgb) {
    for (int i = 0; i < 3; i++) rgb[i] = fmaxf(rgb[i], 0) * (float)(white / hlg_peak);
    float shown = luminance(rgb);
    float gain = shown > 0 ? powf(shown, (float)((1 - hlg_gamma) / hlg_gamma)) : 0;
    for (int i = 0; i < 3; i++) rgb[i] *= gain;
}

// Converts colours, whose light `decode` has found already if there is a table or a profile.
static void convert_light(float *rgba, size_t pixels, const halcyon_deep_conversion *conversion) {
    const double *m = conversion->matrix;
    for (size_t i = 0; i < pixels; i++) {
        float *rgb = rgba + i * 4;
        if (!conversion->profile.convert && conversion->decode.curve == HALCYON_CURVE_HLG) show_scene(rgb);
        float mixed[3];
        for (int row = 0; row < 3; row++) {
            mixed[row] = (float)(m[row * 3] * rgb[0] + m[row * 3 + 1] * rgb[1] + m[row * 3 + 2] * rgb[2]);
        }
        if (conversion->encode.curve == HALCYON_CURVE_HLG) find_scene(mixed);
        for (int channel = 0; channel < 3; channel++) rgb[channel] = halcyon_value_of(mixed[channel], conversion->encode);
    }
}

void halcyon_deep_convert_floats(float *rgba, size_t pixels, const halcyon_deep_conversion *conversion) {
    if (conversion->keeps_colors) return;
    if (conversion->profile.convert) {
        conversion->profile.convert(conversion->profile.context, rgba, pixels);
    } else {
        for (size_t i = 0; i < pixels * 4; i++) {
            if (i % 4 != 3) rgba[i] = (float)halcyon_light_of(rgba[i], conversion->decode);
        }
    }
    convert_light(rgba, pixels, conversion);
}

// The pixels that are converted at once.
enum { chunk = 256 };
float *halcyon_light_table(halcyon_channels channels, halcyon_transfer transfer) {
    float *table = malloc(65536 * sizeof *table);
    if (table == NULL) return NULL;
    for (int i = 0; i < 65536; i++) {
        double value = channels == HALCYON_CHANNELS_FLOAT16 ? (double)float_of_half((uint16_t)i) : i / 65535.0;
        table[i] = (float)halcyon_light_of(value, transfer);
    }
    return table;
}

static float *make_table(size_t pixels, const halcyon_deep_conversion *conversion) {
    if (pixels < least_for_table || conversion->keeps_colors || conversion->profile.convert
        || conversion->decode.curve == HALCYON_CURVE_LINEAR) {
        return NULL;
    }
    return halcyon_light_table(conversion->from, conversion->decode);
}

// Loads straight pixels, whose full channel is 1.
static void load_straight(const uint16_t *words, float *rgba, size_t pixels, halcyon_channels channels, bool is_multiplied) {
    float unit = 1 / full_value(channels);
    for (size_t i = 0; i < pixels; i++) {
        float4 value = load_words(words + i * 4, channels);
        float alpha = fminf(fmaxf(value[3] * unit, 0), 1);
        float scale = !is_multiplied ? unit : alpha > 0 ? unit / alpha : 0;
        for (size_t channel = 0; channel < 3; channel++) rgba[i * 4 + channel] = value[channel] * scale;
        rgba[i * 4 + 3] = alpha;
    }
}

static void store_multiplied(const float *rgba, uint16_t *words, size_t pixels, halcyon_channels channels) {
    float full = full_value(channels);
    for (size_t i = 0; i < pixels; i++) {
        const float *from = rgba + i * 4;
        float alpha = from[3];
        float4 value = {from[0] * alpha, from[1] * alpha, from[2] * alpha, alpha};
        store_words(words + i * 4, value * full, channels);
    }
}

// Multiplies integers, rounded to the nearest.
static void multiply_words(uint16_t *words, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, words += 4) {
        for (int channel = 0; channel < 3; channel++) {
            words[channel] = (uint16_t)(((uint64_t)words[channel] * words[3] + 32767) / 65535);
        }
    }
}

// No colour is brighter than its alpha.
static void limit_words(uint16_t *words, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, words += 4) {
        for (int channel = 0; channel < 3; channel++) {
            if (words[channel] > words[3]) words[channel] = words[3];
        }
    }
}

static void convert_chunk(uint16_t *words, size_t pixels, const halcyon_deep_conversion *conversion, const float *table) {
    bool keeps = conversion->keeps_colors && conversion->from == conversion->to;
    // Halfs that are no number, or endless, do not leave.
    if (keeps && conversion->is_opaque && conversion->to == HALCYON_CHANNELS_UINT16) return;
    if (keeps && conversion->to == HALCYON_CHANNELS_UINT16) {
        if (conversion->is_multiplied) return limit_words(words, pixels);
        return multiply_words(words, pixels);
    }
    float rgba[chunk * 4];
    bool is_multiplied = conversion->is_multiplied && !conversion->is_opaque;
    if (conversion->keeps_colors && is_multiplied) {
        // Only the type changes.
        float scale = full_value(conversion->to) / full_value(conversion->from);
        for (size_t i = 0; i < pixels; i++) {
            store_words(words + i * 4, load_words(words + i * 4, conversion->from) * scale, conversion->to);
        }
        return;
    }
    if (table != NULL && !is_multiplied) {
        float unit = 1 / full_value(conversion->from);
        for (size_t i = 0; i < pixels; i++) {
            for (size_t channel = 0; channel < 3; channel++) rgba[i * 4 + channel] = table[words[i * 4 + channel]];
            rgba[i * 4 + 3] = fminf(fmaxf(load_words(words + i * 4, conversion->from)[3] * unit, 0), 1);
        }
        convert_light(rgba, pixels, conversion);
    } else {
        load_straight(words, rgba, pixels, conversion->from, is_multiplied);
        halcyon_deep_convert_floats(rgba, pixels, conversion);
    }
    if (conversion->to == HALCYON_CHANNELS_UINT16) {
        for (size_t i = 0; i < pixels * 4; i++) rgba[i] = fminf(fmaxf(rgba[i], 0), 1);
    }
    store_multiplied(rgba, words, pixels, conversion->to);
}

halcyon_status halcyon_deep_convert(uint16_t *words, size_t pixels, const halcyon_deep_conversion *conversion,
                                    halcyon_cancelled cancelled, void *context) {
    float *table = make_table(pixels, conversion);
    halcyon_status status = HALCYON_OK;
    for (size_t done = 0; done < pixels; done += chunk) {
        if (done % (chunk * 64) == 0 && cancelled && cancelled(context)) {
            status = HALCYON_CANCELLED;
            break;
        }
        convert_chunk(words + done * 4, pixels - done < chunk ? pixels - done : chunk, conversion, table);
    }
    free(table);
    return status;
}

void halcyon_deep_content_light(const uint16_t *words, halcyon_channels channels, halcyon_transfer transfer, size_t pixels,
                                double *most, double *mean) {
    float *table = pixels < least_for_table ? NULL : halcyon_light_table(channels, transfer);
    uint16_t full = channels == HALCYON_CHANNELS_FLOAT16 ? half_of_float(1) : 65535;
    double brightest = 0;
    double sum = 0;
    for (size_t i = 0; i < pixels; i++, words += 4) {
        double light = 0;
        if (table && words[3] == full) {
            light = (double)fmaxf(fmaxf(table[words[0]], table[words[1]]), fmaxf(table[words[2]], 0));
        } else {
            float rgba[4];
            load_straight(words, rgba, 1, channels, true);
            // A brighter value is more light.
            light = halcyon_light_of((double)fmaxf(fmaxf(rgba[0], rgba[1]), fmaxf(rgba[2], 0)), transfer);
        }
        brightest = fmax(brightest, light);
        sum += light;
    }
    free(table);
    *most = brightest;
    *mean = pixels > 0 ? sum / (double)pixels : 0;
}

void halcyon_deep_straighten(const uint16_t *words, halcyon_channels channels, bool is_multiplied, uint16_t *result,
                             size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        float rgba[4];
        load_straight(words + i * 4, rgba, 1, channels, is_multiplied);
        for (size_t channel = 0; channel < 4; channel++) {
            result[i * 4 + channel] = (uint16_t)(fminf(fmaxf(rgba[channel], 0), 1) * 65535 + 0.5f);
        }
    }
}
