// Both directions of sRGB's transfer function, approximated for vectors: fitted for the least maximum error.
#ifndef HALCYON_LIGHT_CURVE_H
#define HALCYON_LIGHT_CURVE_H

enum {
    // A full channel of either side: 255 times 128.
    curve_full = 32640,
    // To light, in parts of 32,768: up to the knee a line, beyond it a polynomial, whose coefficients begin with the constant
    // one. For a byte, the result is within 0.08 of a step of it and within 3 parts, since bright pixels whose weights cancel
    // each other must not show in a dark one. It is distinct for each byte and full for a full one, and no intermediate result
    // needs more than 16 bits.
    curve_knee = 1322,
    curve_line = 2542,
    curve_0 = 32,
    curve_1 = 1020,
    curve_2 = 17510,
    curve_3 = 20721,
    curve_4 = -8530,
    curve_5 = 2179,
};

// From light, to bytes: a cubic polynomial for each octave of the light, which the lowest three bits of its exponent choose;
// within 0.02 of a byte's step. One octave stands where that of 1 would: light is clamped below it.
#define OCTAVES_0 2.32870197f, 7.80457316f, 15.1139843f, 24.8708775f, 37.8947674f, 55.2795748f, 78.4855085f, -1.7735663f
#define OCTAVES_1 3160.18637f, 2109.17136f, 1407.70299f, 939.529029f, 627.060396f, 418.512604f, 279.323652f, 4734.9296f
#define OCTAVES_2                                                                                                     \
    -102907.342f, -34341.2054f, -11460.0024f, -3824.31698f, -1276.21268f, -425.884887f, -142.12203f, -308373.598f
#define OCTAVES_3                                                                                                     \
    1822585.12f, 304107.407f, 50741.8358f, 8466.52809f, 1412.68239f, 235.713094f, 39.3299041f, 10923168.7f

// The largest float below 1, and the light from which the octaves count. Below it are two lines, the function's own and one
// that is within 0.03 of a byte's step of it; the lower one is taken.
#define LIGHT_END 0x1.fffffep-1f
#define LIGHT_DARK 0x1p-8f
#define DARK_SLOPE (12.92f * 255)
#define KNEE_SLOPE 3029.45613f
#define KNEE_START 0.856114463f

// The deviation from a full alpha that rounding makes, and the least alpha that is not rounded to 0.
#define ALPHA_ERROR 1e-4f
#define ALPHA_LEAST (0.5f / 255)

#endif
