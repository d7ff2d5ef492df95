#include <lcms2.h>
#include <stdlib.h>
#include <string.h>

#include "codecs_internal.h"
#include "color_memory.h"
#include "tone.h"

/// A conversion by lcms2; or one that maps tones, which has neither of the first two.
struct halcyon_color {
    cmsContext context;
    cmsHTRANSFORM transform;
    halcyon_tone *tone;
};

/// The number of pixels that are converted at once if they have to be unpremultiplied first.
enum { CHUNK = 512 };

static bool is_of_pixels(cmsHPROFILE profile) {
    switch (cmsGetDeviceClass(profile)) {
    case cmsSigInputClass:
    case cmsSigDisplayClass:
    case cmsSigOutputClass:
    case cmsSigColorSpaceClass: return true;
    default: return false;
    }
}

static cmsColorSpaceSignature signature(halcyon_color_model model) {
    switch (model) {
    case HALCYON_COLOR_GRAY: return cmsSigGrayData;
    case HALCYON_COLOR_CMYK: return cmsSigCmykData;
    default: return cmsSigRgbData;
    }
}

static cmsUInt32Number layout(halcyon_color_model model, bool is_deep) {
    // The first of a grey pixel's four channels; the others are equal or alpha.
    cmsUInt32Number grey = COLORSPACE_SH(PT_GRAY) | EXTRA_SH(3) | CHANNELS_SH(1);
    switch (model) {
    case HALCYON_COLOR_CMYK: return TYPE_CMYK_8;
    case HALCYON_COLOR_GRAY: return grey | BYTES_SH(is_deep ? 2 : 1);
    default: return is_deep ? TYPE_RGBA_16 : TYPE_BGRA_8;
    }
}

/// Takes ownership of both. Returns NULL without a transform.
static halcyon_color *color_of(cmsContext context, cmsHTRANSFORM transform) {
    halcyon_color *color = transform != NULL ? malloc(sizeof *color) : NULL;
    if (color == NULL) {
        if (transform != NULL) halcyon_color_memory_lacks();
        if (transform != NULL) cmsDeleteTransform(transform);
        cmsDeleteContext(context);
        return NULL;
    }
    *color = (halcyon_color){context, transform, NULL};
    return color;
}

/// Takes ownership of the context and the profile. Returns NULL if lcms2 cannot make a conversion of them.
static halcyon_color *make_color(cmsContext context, cmsHPROFILE profile, halcyon_color_model model, bool is_deep) {
    cmsHPROFILE srgb = cmsCreate_sRGBProfileTHR(context);
    cmsHTRANSFORM transform = NULL;
    if (srgb != NULL) {
        // A version 4 profile would make lcms2 lighten the shadows, which no browser does.
        cmsSetProfileVersion(srgb, 2.1);
        // Without the cache of the last pixel, threads can share the transform. For words lcms2 would optimize it to
        // a coarse table.
        cmsUInt32Number flags = cmsFLAGS_NOCACHE | (is_deep ? cmsFLAGS_NOOPTIMIZE : 0);
        transform = cmsCreateTransformTHR(context, profile, layout(model, is_deep), srgb, TYPE_BGRA_8,
                                          INTENT_PERCEPTUAL, flags);
        cmsCloseProfile(srgb);
    }
    cmsCloseProfile(profile);
    return color_of(context, transform);
}

static int difference(const uint8_t *a, const uint8_t *b) {
    int most = 0;
    for (int i = 0; i < 3; i++) {
        int difference = abs(a[i] - b[i]);
        if (difference > most) most = difference;
    }
    return most;
}

/// Whether a coarse grid of colours and all greys stay unchanged, except for rounding.
static bool changes_nothing(const halcyon_color *color, halcyon_color_model model, bool is_deep) {
    enum { STEPS = 9, COUNT = 256 + STEPS * STEPS * STEPS };
    uint8_t before[COUNT][4], after[COUNT][4];
    int count = 0;
    for (int i = 0; i < 256; i++) memset(before[count++], i, 4);
    for (int i = 0; model == HALCYON_COLOR_RGB && i < STEPS * STEPS * STEPS; i++) {
        uint8_t *pixel = before[count++];
        pixel[0] = (uint8_t)(i % STEPS * 255 / (STEPS - 1));
        pixel[1] = (uint8_t)(i / STEPS % STEPS * 255 / (STEPS - 1));
        pixel[2] = (uint8_t)(i / STEPS / STEPS * 255 / (STEPS - 1));
        pixel[3] = 255;
    }
    if (is_deep) {
        uint16_t words[COUNT][4];
        for (int i = 0; i < count; i++) {
            for (int channel = 0; channel < 3; channel++) words[i][channel] = before[i][2 - channel] * 257;
            words[i][3] = 65535;
        }
        halcyon_color_convert_deep(color, words[0], after[0], (size_t)count);
    } else {
        cmsDoTransform(color->transform, before, after, (cmsUInt32Number)count);
    }
    for (int i = 0; i < count; i++) {
        if (difference(before[i], after[i]) > 1) return false;
    }
    return true;
}

/// Keeps a conversion only if it changes colours.
static halcyon_color *if_needed(halcyon_color *color, halcyon_color_model model, bool is_deep) {
    if (color == NULL || model == HALCYON_COLOR_CMYK || !changes_nothing(color, model, is_deep)) return color;
    halcyon_color_free(color);
    return NULL;
}

/// Discards `color` if an allocation of lcms2 was refused: it may have gone on without a part of it.
static halcyon_color *unless_refused(halcyon_color *color, bool *no_memory) {
    halcyon_color_memory_state state = halcyon_color_memory_now();
    *no_memory = state.is_short;
    if (color != NULL && (state.is_short || state.is_over)) {
        halcyon_color_free(color);
        color = NULL;
    }
    halcyon_color_memory_end();
    return color;
}

static halcyon_color *create(const uint8_t *bytes, size_t size, halcyon_color_model model, bool is_deep) {
    if (size > UINT32_MAX) return NULL;
    cmsContext context = halcyon_color_context();
    if (context == NULL) return NULL;
    cmsHPROFILE profile = cmsOpenProfileFromMemTHR(context, bytes, (cmsUInt32Number)size);
    if (profile == NULL || !is_of_pixels(profile) || cmsGetColorSpace(profile) != signature(model)) {
        if (profile != NULL) cmsCloseProfile(profile);
        cmsDeleteContext(context);
        return NULL;
    }
    // lcms2 would prefer this tag to all others, and browsers do not support it: a chain of elements, of which a few
    // kilobytes can name hundred thousands, and each is read and run for every colour.
    if (cmsIsTag(profile, cmsSigDToB0Tag)) cmsWriteTag(profile, cmsSigDToB0Tag, NULL);
    return if_needed(make_color(context, profile, model, is_deep), model, is_deep);
}

halcyon_color *halcyon_color_create(const uint8_t *bytes, size_t size, halcyon_color_model model, bool is_deep,
                                    bool *no_memory) {
    halcyon_color *color = halcyon_color_memory_begin(size) ? create(bytes, size, model, is_deep) : NULL;
    return unless_refused(color, no_memory);
}

static halcyon_color *create_from_primaries(const double xy[8], const float *curve, size_t count, bool is_deep) {
    cmsContext context = halcyon_color_context();
    if (context == NULL) return NULL;
    cmsCIExyY white = {xy[0], xy[1], 1};
    cmsCIExyYTRIPLE primaries = {{xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
    cmsToneCurve *tone = cmsBuildTabulatedToneCurveFloat(context, (cmsUInt32Number)count, curve);
    cmsToneCurve *tones[3] = {tone, tone, tone};
    cmsHPROFILE profile = tone != NULL ? cmsCreateRGBProfileTHR(context, &white, &primaries, tones) : NULL;
    if (tone != NULL) cmsFreeToneCurve(tone);
    if (profile == NULL) {
        cmsDeleteContext(context);
        return NULL;
    }
    return if_needed(make_color(context, profile, HALCYON_COLOR_RGB, is_deep), HALCYON_COLOR_RGB, is_deep);
}

halcyon_color *halcyon_color_create_from_primaries(const double xy[8], const float *curve, size_t count, bool is_deep,
                                                   bool *no_memory) {
    halcyon_color *color = halcyon_color_memory_begin(0) ? create_from_primaries(xy, curve, count, is_deep) : NULL;
    return unless_refused(color, no_memory);
}

static halcyon_color *create_to_light(const uint8_t *bytes, size_t size, halcyon_color_model model) {
    if (size > UINT32_MAX || model == HALCYON_COLOR_CMYK) return NULL;
    cmsContext context = halcyon_color_context();
    if (context == NULL) return NULL;
    cmsHPROFILE profile = cmsOpenProfileFromMemTHR(context, bytes, (cmsUInt32Number)size), linear = NULL;
    cmsHTRANSFORM transform = NULL;
    cmsToneCurve *tone = cmsBuildGamma(context, 1), *tones[3] = {tone, tone, tone};
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
    if (tone != NULL) linear = cmsCreateRGBProfileTHR(context, &white, &primaries, tones);
    if (profile != NULL && linear != NULL && is_of_pixels(profile) && cmsGetColorSpace(profile) == signature(model)) {
        // As for the other conversions: what is said there holds here.
        if (cmsIsTag(profile, cmsSigDToB0Tag)) cmsWriteTag(profile, cmsSigDToB0Tag, NULL);
        cmsSetProfileVersion(linear, 2.1);
        cmsUInt32Number grey = FLOAT_SH(1) | COLORSPACE_SH(PT_GRAY) | EXTRA_SH(3) | CHANNELS_SH(1) | BYTES_SH(4);
        cmsUInt32Number layout = model == HALCYON_COLOR_GRAY ? grey : TYPE_RGBA_FLT;
        transform = cmsCreateTransformTHR(context, profile, layout, linear, TYPE_RGBA_FLT, INTENT_PERCEPTUAL,
                                          cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE);
    }
    if (tone != NULL) cmsFreeToneCurve(tone);
    if (linear != NULL) cmsCloseProfile(linear);
    if (profile != NULL) cmsCloseProfile(profile);
    return color_of(context, transform);
}

halcyon_color *halcyon_color_create_to_light(const uint8_t *bytes, size_t size, halcyon_color_model model,
                                             bool *no_memory) {
    halcyon_color *color = halcyon_color_memory_begin(size) ? create_to_light(bytes, size, model) : NULL;
    return unless_refused(color, no_memory);
}

void halcyon_color_convert_to_light(const halcyon_color *color, float *rgba, size_t pixels) {
    cmsDoTransform(color->transform, rgba, rgba, (cmsUInt32Number)pixels);
}

halcyon_color *halcyon_color_create_tone(const halcyon_tone_curves *curves, bool *no_memory) {
    halcyon_tone *tone = halcyon_tone_create(curves);
    halcyon_color *color = tone != NULL ? malloc(sizeof *color) : NULL;
    *no_memory = color == NULL;
    if (color == NULL) {
        free(tone);
        return NULL;
    }
    *color = (halcyon_color){NULL, NULL, tone};
    return color;
}

void halcyon_color_free(halcyon_color *color) {
    if (color->transform != NULL) {
        cmsDeleteTransform(color->transform);
        cmsDeleteContext(color->context);
    }
    free(color->tone);
    free(color);
}

/// Converts BGRA that is not premultiplied in place.
static void convert_straight(const halcyon_color *color, uint8_t *bgra, size_t count) {
    if (color->tone != NULL) {
        halcyon_tone_convert_bytes(color->tone, bgra, count);
    } else {
        cmsDoTransform(color->transform, bgra, bgra, (cmsUInt32Number)count);
    }
}

void halcyon_color_convert(const halcyon_color *color, uint8_t *pixels, size_t count, bool is_opaque) {
    while (count > 0) {
        size_t chunk = count < CHUNK ? count : CHUNK;
        if (is_opaque) {
            convert_straight(color, pixels, chunk);
        } else {
            uint8_t straight[CHUNK * 4];
            halcyon_unpremultiply(pixels, straight, chunk);
            convert_straight(color, straight, chunk);
            halcyon_premultiply(straight, chunk);
            memcpy(pixels, straight, chunk * 4);
        }
        pixels += chunk * 4;
        count -= chunk;
    }
}

void halcyon_color_convert_ink(const halcyon_color *color, const uint8_t *ink, uint8_t *pixels, size_t count) {
    cmsDoTransform(color->transform, ink, pixels, (cmsUInt32Number)count);
    halcyon_make_opaque(pixels, count);
}

void halcyon_color_convert_deep(const halcyon_color *color, const uint16_t *rgba, uint8_t *pixels, size_t count) {
    if (color->tone != NULL) return halcyon_tone_convert_words(color->tone, rgba, pixels, count);
    cmsDoTransform(color->transform, rgba, pixels, (cmsUInt32Number)count);
    for (size_t i = 0; i < count; i++) pixels[i * 4 + 3] = (uint8_t)((rgba[i * 4 + 3] * 255u + 32767u) / 65535u);
}
