#include <lcms2.h>
#include <stdlib.h>
#include <string.h>

#include "codecs_internal.h"

struct halcyon_color {
    cmsHTRANSFORM transform;
};

/// How many pixels are converted at once, where they have to be divided by alpha first.
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
    // Of a grey pixel's four channels the first; the others are equal or alpha.
    cmsUInt32Number grey = COLORSPACE_SH(PT_GRAY) | EXTRA_SH(3) | CHANNELS_SH(1);
    switch (model) {
    case HALCYON_COLOR_CMYK: return TYPE_CMYK_8;
    case HALCYON_COLOR_GRAY: return grey | BYTES_SH(is_deep ? 2 : 1);
    default: return is_deep ? TYPE_RGBA_16 : TYPE_BGRA_8;
    }
}

/// Takes the profile. NULL where lcms2 can make nothing of it.
static halcyon_color *make_color(cmsHPROFILE profile, halcyon_color_model model, bool is_deep) {
    cmsHPROFILE srgb = cmsCreate_sRGBProfile();
    cmsHTRANSFORM transform = NULL;
    if (srgb != NULL) {
        // A version 4 profile would make lcms2 lighten the shadows, which no browser does.
        cmsSetProfileVersion(srgb, 2.1);
        // Without the cache of the last pixel, threads can share it. Of words lcms2 would make a coarse table.
        cmsUInt32Number flags = cmsFLAGS_NOCACHE | (is_deep ? cmsFLAGS_NOOPTIMIZE : 0);
        transform = cmsCreateTransform(profile, layout(model, is_deep), srgb, TYPE_BGRA_8, INTENT_PERCEPTUAL, flags);
        cmsCloseProfile(srgb);
    }
    cmsCloseProfile(profile);
    if (transform == NULL) return NULL;
    halcyon_color *color = malloc(sizeof *color);
    if (color == NULL) {
        cmsDeleteTransform(transform);
        return NULL;
    }
    color->transform = transform;
    return color;
}

static int difference(const uint8_t *a, const uint8_t *b) {
    int most = 0;
    for (int i = 0; i < 3; i++) {
        int difference = abs(a[i] - b[i]);
        if (difference > most) most = difference;
    }
    return most;
}

/// Whether a coarse grid of colours and every grey stay what they are, but for rounding.
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

/// Keeps a conversion that converts.
static halcyon_color *if_needed(halcyon_color *color, halcyon_color_model model, bool is_deep) {
    if (color == NULL || model == HALCYON_COLOR_CMYK || !changes_nothing(color, model, is_deep)) return color;
    halcyon_color_free(color);
    return NULL;
}

halcyon_color *halcyon_color_create(const uint8_t *bytes, size_t size, halcyon_color_model model, bool is_deep) {
    if (size > UINT32_MAX) return NULL;
    cmsHPROFILE profile = cmsOpenProfileFromMem(bytes, (cmsUInt32Number)size);
    if (profile == NULL) return NULL;
    if (!is_of_pixels(profile) || cmsGetColorSpace(profile) != signature(model)) {
        cmsCloseProfile(profile);
        return NULL;
    }
    // Before all others lcms2 would take this tag, which browsers do not know: a chain of elements, of which a few
    // kilobytes can name hundred thousands, and each is read and run for every colour.
    if (cmsIsTag(profile, cmsSigDToB0Tag)) cmsWriteTag(profile, cmsSigDToB0Tag, NULL);
    return if_needed(make_color(profile, model, is_deep), model, is_deep);
}

halcyon_color *halcyon_color_create_from_primaries(const double xy[8], const float *curve, size_t count, bool is_deep) {
    cmsCIExyY white = {xy[0], xy[1], 1};
    cmsCIExyYTRIPLE primaries = {{xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
    cmsToneCurve *tone = cmsBuildTabulatedToneCurveFloat(NULL, (cmsUInt32Number)count, curve);
    if (tone == NULL) return NULL;
    cmsToneCurve *tones[3] = {tone, tone, tone};
    cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, tones);
    cmsFreeToneCurve(tone);
    if (profile == NULL) return NULL;
    return if_needed(make_color(profile, HALCYON_COLOR_RGB, is_deep), HALCYON_COLOR_RGB, is_deep);
}

void halcyon_color_free(halcyon_color *color) {
    cmsDeleteTransform(color->transform);
    free(color);
}

void halcyon_color_convert(const halcyon_color *color, uint8_t *pixels, size_t count, bool is_opaque) {
    while (count > 0) {
        size_t chunk = count < CHUNK ? count : CHUNK;
        if (is_opaque) {
            cmsDoTransform(color->transform, pixels, pixels, (cmsUInt32Number)chunk);
        } else {
            uint8_t straight[CHUNK * 4];
            halcyon_unpremultiply(pixels, straight, chunk);
            cmsDoTransform(color->transform, straight, straight, (cmsUInt32Number)chunk);
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
    cmsDoTransform(color->transform, rgba, pixels, (cmsUInt32Number)count);
    for (size_t i = 0; i < count; i++) pixels[i * 4 + 3] = (uint8_t)((rgba[i * 4 + 3] * 255u + 32767u) / 65535u);
}
