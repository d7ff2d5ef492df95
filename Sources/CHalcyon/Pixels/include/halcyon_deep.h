// Kernels over pixels of 16 bits a channel: red, green, blue, alpha.
#ifndef HALCYON_DEEP_H
#define HALCYON_DEEP_H

#include "halcyon_pixels.h"

typedef enum {
    /// 0 to 65,535.
    HALCYON_CHANNELS_UINT16 = 0,
    /// IEEE 754 binary16; 1 is full.
    HALCYON_CHANNELS_FLOAT16 = 1,
} halcyon_channels;

typedef enum {
    HALCYON_CURVE_LINEAR = 0,
    /// IEC 61966-2-1.
    HALCYON_CURVE_SRGB = 1,
    HALCYON_CURVE_GAMMA = 2,
    /// SMPTE ST 2084, whose light is counted in units of 203 cd/m2 (ITU-R BT.2408).
    HALCYON_CURVE_PQ = 3,
    /// ITU-R BT.2100, for a display of 1,000 cd/m2, whose light is counted in the same units.
    HALCYON_CURVE_HLG = 4,
} halcyon_curve;

typedef struct {
    halcyon_curve curve;
    /// The exponent from a value to its light, for a gamma.
    double gamma;
} halcyon_transfer;

/// Converts RGBA in place to the linear light of sRGB, neither premultiplied; alpha stays.
typedef struct {
    void (*convert)(void *context, float *rgba, size_t pixels);
    void *context;
} halcyon_to_light;

typedef struct {
    halcyon_channels from, to;
    /// Whether colours come multiplied by their alpha. The result always is.
    bool is_multiplied;
    bool is_opaque;
    /// Whether colours stay as they are, and only the type of the channels changes.
    bool keeps_colors;
    halcyon_transfer decode, encode;
    /// In the place of `decode`, if there is one.
    halcyon_to_light profile;
    /// From the light of the source's primaries to that of the result's, row by row.
    double matrix[9];
} halcyon_deep_conversion;

/// Converts pixels in place.
halcyon_status halcyon_deep_convert(uint16_t *words, size_t pixels, const halcyon_deep_conversion *conversion,
                                    halcyon_cancelled cancelled, void *context);

/// Converts straight RGBA of floats in place, as `halcyon_deep_convert` converts the colours of pixels.
void halcyon_deep_convert_floats(float *rgba, size_t pixels, const halcyon_deep_conversion *conversion);

/// Finds the light of the brightest channel of each pixel without its alpha, where 1 is white: the most of it, and its mean.
void halcyon_deep_content_light(const uint16_t *words, halcyon_channels channels, halcyon_transfer transfer, size_t pixels,
                                double *most, double *mean);

/// Writes straight RGBA of 0 to 65,535. `result` may be `words`.
void halcyon_deep_straighten(const uint16_t *words, halcyon_channels channels, bool is_multiplied, uint16_t *result,
                             size_t pixels);

/// Divides colours of floats by their alpha. `result` may be `words`.
void halcyon_deep_divide(const uint16_t *words, uint16_t *result, size_t pixels);

/// Writes the three colours of each pixel.
void halcyon_deep_leave_out_alpha(const uint16_t *words, uint16_t *rgb, size_t pixels);

/// Writes premultiplied BGRA of 8 bits as premultiplied RGBA of 16 bits, each value times 257.
void halcyon_deep_widen(const uint8_t *bgra, uint16_t *words, size_t pixels);

/// Writes premultiplied RGBA of 0 to 65,535 as premultiplied BGRA of 8 bits, rounded to the nearest.
void halcyon_deep_narrow(const uint16_t *words, uint8_t *bgra, size_t pixels);

/// Whether every alpha is full.
bool halcyon_deep_is_opaque(const uint16_t *words, halcyon_channels channels, size_t pixels);

/// Fills every alpha.
void halcyon_deep_make_opaque(uint16_t *words, halcyon_channels channels, size_t pixels);

/// Writes RGBA whose channels are little-endian words of so many bits, up to 16, as words of 0 to 65,535.
void halcyon_deep_expand(const uint8_t *rgba, int bits, uint16_t *words, size_t pixels);

float halcyon_half_to_float(uint16_t half);
/// Rounds to the nearest, of two equally near ones to the even one. Beyond the largest half it is that, and what is not a number is 0.
uint16_t halcyon_float_to_half(float value);

/// The pixels of a scaling. `transfer` counts if light is averaged.
typedef struct {
    halcyon_channels channels;
    halcyon_transfer transfer;
} halcyon_deep_pixels;

/// Does with premultiplied pixels of 16 bits what `halcyon_resample` does with those of 8.
halcyon_status halcyon_deep_resample(halcyon_bitmap source, halcyon_region region, halcyon_bitmap result,
                                     halcyon_deep_pixels pixels, halcyon_filter filter, halcyon_light light,
                                     halcyon_cancelled cancelled, void *context);

/// Does with pixels of 16 bits what `halcyon_orient` does with those of 8.
halcyon_status halcyon_deep_orient(halcyon_bitmap source, halcyon_bitmap result, int orientation,
                                   halcyon_cancelled cancelled, void *context);

/// The gains of a map, for red, green and blue: stops by the weight of a display, `minimum + range * value ^ exponent`.
typedef struct {
    float exponent[3], minimum[3], range[3];
    /// Added to the light before, and taken from it afterwards.
    float base_offset[3], alternate_offset[3];
    /// Whether the gains are for the light of other primaries: that is found by `matrix` and left by `inverse`, row by row.
    bool mixes;
    double matrix[9], inverse[9];
} halcyon_gain;

/// Changes premultiplied halfs of linear light, of rows without padding, by the gains of a map in BGRA, which is spread over all of them
/// with straight lines between its values.
halcyon_status halcyon_deep_brighten(halcyon_bitmap light, halcyon_bitmap map, const halcyon_gain *gain,
                                     halcyon_cancelled cancelled, void *context);

#endif
