#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tiff_samples.h"

bool halcyon_tiff_has_samples(TIFF *tiff, bool has_alpha, bool wants_all_bits, halcyon_tiff_samples *samples) {
    *samples = (halcyon_tiff_samples){0};
    uint16_t planes = 0, ink = INKSET_CMYK, extras = 0, *kinds = NULL;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &samples->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &samples->height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &samples->bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples->samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &samples->format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &ink);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &samples->photometric)) return false;
    switch (samples->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK: samples->colors = 1; break;
    case PHOTOMETRIC_RGB: samples->colors = 3; break;
    case PHOTOMETRIC_SEPARATED: samples->colors = 4; break;
    default: return false;
    }
    bool is_ink = samples->colors == 4;
    if (samples->samples < samples->colors || (is_ink && ink != INKSET_CMYK)) return false;
    bool is_float = samples->format == SAMPLEFORMAT_IEEEFP;
    bool is_whole = samples->format == SAMPLEFORMAT_UINT || samples->format == SAMPLEFORMAT_INT
                    || samples->format == SAMPLEFORMAT_VOID;
    if (is_float ? samples->bits != 16 && samples->bits != 32 && samples->bits != 64
                 : !is_whole || (samples->bits > 16 && samples->bits != 24 && samples->bits != 32 && samples->bits != 64)) {
        return false;
    }
    if (!is_float && samples->bits <= 8) return false;
    if (wants_all_bits && is_ink) return false;
    // libtiff shows these itself, but ink of 16 bits.
    if (!wants_all_bits && !is_float && samples->bits == 16 && !is_ink) return false;
    bool reads_alpha = has_alpha && !is_ink && samples->samples > samples->colors;
    samples->channels = samples->colors + (reads_alpha ? 1 : 0);
    samples->is_straight = reads_alpha && extras > 0 && kinds != NULL && kinds[0] == EXTRASAMPLE_UNASSALPHA;
    samples->is_planar = planes == PLANARCONFIG_SEPARATE && samples->samples > 1;
    return true;
}

static double half(uint16_t word) {
    int exponent = word >> 10 & 31;
    double value = word & 1023;
    if (exponent == 31) return value > 0 ? NAN : (word & 0x8000 ? -INFINITY : INFINITY);
    value = exponent > 0 ? ldexp(value + 1024, exponent - 25) : ldexp(value, -24);
    return word & 0x8000 ? -value : value;
}

/// A number of a channel.
typedef struct {
    bool is_real;
    double real;
    /// An integer from 0 to `top`; a negative one is 0.
    uint64_t whole, top;
} number;

static inline number of_real(double value) { return (number){.is_real = true, .real = value}; }

/// The upper bits of an integer, of which no more than 16 count.
static inline number of_integer(uint64_t value, int bits, bool is_signed) {
    if (is_signed) {
        bits -= 1;
        if (value >> bits & 1) value = 0;
    }
    if (bits > 16) {
        value >>= bits - 16;
        bits = 16;
    }
    return (number){.whole = value, .top = (UINT64_C(1) << bits) - 1};
}

/// Returns the number at a place of a row in which libtiff has brought whole bytes into the machine's order. Other depths are
/// packed, with the highest bit first.
static inline number number_at(const uint8_t *row, size_t index, const halcyon_tiff_samples *samples) {
    bool is_float = samples->format == SAMPLEFORMAT_IEEEFP, is_signed = samples->format == SAMPLEFORMAT_INT;
    switch (samples->bits) {
    case 16: {
        uint16_t word;
        memcpy(&word, row + index * 2, 2);
        return is_float ? of_real(half(word)) : of_integer(word, 16, is_signed);
    }
    case 24: {
        const uint8_t *bytes = row + index * 3;
        return of_integer((uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16, 24, is_signed);
    }
    case 32: {
        uint32_t word;
        float real;
        memcpy(&word, row + index * 4, 4);
        memcpy(&real, row + index * 4, 4);
        return is_float ? of_real((double)real) : of_integer(word, 32, is_signed);
    }
    case 64: {
        uint64_t word;
        double real;
        memcpy(&word, row + index * 8, 8);
        memcpy(&real, row + index * 8, 8);
        return is_float ? of_real(real) : of_integer(word, 64, is_signed);
    }
    default: {
        uint64_t value = 0;
        size_t bit = index * samples->bits;
        for (int left = samples->bits; left > 0;) {
            int there = 8 - (int)(bit % 8), taken = left < there ? left : there;
            value = value << taken | (row[bit / 8] >> (there - taken) & ((1 << taken) - 1));
            left -= taken;
            bit += (size_t)taken;
        }
        return of_integer(value, samples->bits, is_signed);
    }
    }
}

/// Returns a number as an integer up to `most`, rounded: real ones of 0 to 1, beyond which they are clamped; what is not a number is 0.
static inline uint32_t scaled(number value, uint32_t most) {
    if (!value.is_real) return (uint32_t)((value.whole * most + value.top / 2) / value.top);
    if (!(value.real > 0)) return 0;
    return value.real >= 1 ? most : (uint32_t)(value.real * most + 0.5);
}

static uint8_t value_at(const uint8_t *row, size_t index, const halcyon_tiff_samples *samples) {
    return (uint8_t)scaled(number_at(row, index, samples), 255);
}

/// Returns the value as a word of 16 bits, which of numbers with a point keeps those beyond 0 and 1.
static uint16_t word_at(const uint8_t *row, size_t index, const halcyon_tiff_samples *samples, halcyon_channels channels) {
    number value = number_at(row, index, samples);
    if (channels == HALCYON_CHANNELS_UINT16) return (uint16_t)scaled(value, 65535);
    return halcyon_float_to_half((float)(value.is_real ? value.real : (double)value.whole / (double)value.top));
}

/// Puts the channels of a row at the places of theirs in the pixels: in the order of the file.
///
/// - Parameter plane: the only channel of the row; negative if it has all.
static void put_row(const uint8_t *row, uint8_t *pixels, uint32_t count, int plane, const halcyon_tiff_samples *samples) {
    for (uint32_t x = 0; x < count; x++, pixels += 4) {
        if (plane >= 0) {
            pixels[plane] = value_at(row, x, samples);
            continue;
        }
        for (int channel = 0; channel < samples->channels; channel++) {
            pixels[channel] = value_at(row, (size_t)x * samples->samples + (size_t)channel, samples);
        }
    }
}

/// Puts the channels of a row at their places in words, as `put_row` does.
static void put_words(const uint8_t *row, uint16_t *words, uint32_t count, int plane, const halcyon_tiff_samples *samples,
                      halcyon_channels channels) {
    for (uint32_t x = 0; x < count; x++, words += 4) {
        if (plane >= 0) {
            words[plane] = word_at(row, x, samples, channels);
            continue;
        }
        for (int channel = 0; channel < samples->channels; channel++) {
            words[channel] = word_at(row, (size_t)x * samples->samples + (size_t)channel, samples, channels);
        }
    }
}

/// Makes RGBA of the channels of a row.
static void finish_words(uint16_t *words, uint32_t count, const halcyon_tiff_samples *samples, halcyon_channels channels) {
    bool has_alpha = samples->channels > samples->colors, is_inverted = samples->photometric == PHOTOMETRIC_MINISWHITE;
    uint16_t full = channels == HALCYON_CHANNELS_FLOAT16 ? 0x3C00 : 65535;
    for (uint32_t x = 0; x < count; x++, words += 4) {
        uint16_t alpha = has_alpha ? words[samples->colors] : full;
        if (samples->colors == 1) {
            uint16_t gray = words[0];
            if (is_inverted && channels == HALCYON_CHANNELS_UINT16) gray = 65535 - gray;
            if (is_inverted && channels == HALCYON_CHANNELS_FLOAT16) {
                gray = halcyon_float_to_half(1 - halcyon_half_to_float(gray));
            }
            words[0] = words[1] = words[2] = gray;
        }
        words[3] = alpha;
    }
}

/// Makes pixels of the channels of a row.
static void finish_row(uint8_t *pixels, uint32_t count, const halcyon_tiff_samples *samples, halcyon_codec_ink ink) {
    if (samples->colors == 4) {
        if (ink.convert != NULL) return ink.convert(ink.context, pixels, pixels, count);
        for (uint32_t x = 0; x < count; x++, pixels += 4) {
            uint32_t light = 255u - pixels[3];
            uint8_t red = halcyon_div255((255u - pixels[0]) * light), green = halcyon_div255((255u - pixels[1]) * light);
            pixels[0] = halcyon_div255((255u - pixels[2]) * light);
            pixels[1] = green;
            pixels[2] = red;
            pixels[3] = 255;
        }
        return;
    }
    bool has_alpha = samples->channels > samples->colors, is_inverted = samples->photometric == PHOTOMETRIC_MINISWHITE;
    for (uint32_t x = 0; x < count; x++) {
        uint8_t *pixel = pixels + (size_t)x * 4;
        uint8_t alpha = has_alpha ? pixel[samples->colors] : 255;
        if (samples->colors == 1) {
            uint8_t gray = is_inverted ? 255 - pixel[0] : pixel[0];
            pixel[0] = pixel[1] = pixel[2] = gray;
        } else {
            uint8_t red = pixel[0];
            pixel[0] = pixel[2];
            pixel[2] = red;
        }
        pixel[3] = alpha;
        // A pixel that claims to be multiplied may be brighter than its alpha.
        for (int color = 0; color < 3 && !samples->is_straight; color++) {
            if (pixel[color] > alpha) pixel[color] = alpha;
        }
    }
    if (samples->is_straight) halcyon_premultiply(pixels, count);
}

/// The strips or tiles of a page.
typedef struct {
    TIFF *tiff;
    const halcyon_tiff_samples *samples;
    halcyon_codec_bitmap bitmap;
    /// In the place of the bitmap's pixels, unless it is NULL.
    uint16_t *words;
    halcyon_channels channels;
    bool is_tiled;
    uint32_t width, height;
    uint8_t *bytes;
    tmsize_t size, row_size;
} units;

/// Reads a strip, or a row of tiles, of one plane or of all channels.
static bool read_unit_row(const units *units, uint32_t top, int plane) {
    uint32_t rows = units->samples->height - top < units->height ? units->samples->height - top : units->height;
    uint16_t place = (uint16_t)(plane < 0 ? 0 : plane);
    for (uint32_t left = 0; left < units->samples->width; left += units->width) {
        uint32_t columns = units->samples->width - left < units->width ? units->samples->width - left : units->width;
        tmsize_t wanted = units->is_tiled ? units->size : units->row_size * (tmsize_t)rows;
        // A codec that leaves a part unwritten must not show what memory held before.
        memset(units->bytes, 0, (size_t)wanted);
        tmsize_t there = units->is_tiled
            ? TIFFReadEncodedTile(units->tiff, TIFFComputeTile(units->tiff, left, top, 0, place), units->bytes, wanted)
            : TIFFReadEncodedStrip(units->tiff, TIFFComputeStrip(units->tiff, top, place), units->bytes, wanted);
        if (there < wanted) return false;
        for (uint32_t row = 0; row < rows; row++) {
            size_t pixel = (size_t)(top + row) * units->samples->width + left;
            const uint8_t *bytes = units->bytes + (tmsize_t)row * units->row_size;
            if (units->words != NULL) {
                put_words(bytes, units->words + pixel * 4, columns, plane, units->samples, units->channels);
            } else {
                put_row(bytes, units->bitmap.pixels + pixel * 4, columns, plane, units->samples);
            }
        }
        // A strip is as wide as the page, and a tile may be wider than the rest of it.
        if (units->width >= units->samples->width - left) break;
    }
    return true;
}

static halcyon_codec_status read_all(const units *units, halcyon_codec_ink ink, halcyon_codec_call *call, uint32_t *rows) {
    const halcyon_tiff_samples *samples = units->samples;
    for (uint32_t top = 0; top < samples->height;) {
        if (halcyon_is_cancelled(call)) return HALCYON_CODEC_CANCELLED;
        int planes = samples->is_planar ? samples->channels : 1;
        for (int plane = 0; plane < planes; plane++) {
            if (!read_unit_row(units, top, samples->is_planar ? plane : -1)) return HALCYON_CODEC_DAMAGED;
        }
        uint32_t end = units->height < samples->height - top ? top + units->height : samples->height;
        for (uint32_t row = top; row < end; row++) {
            size_t stride = (size_t)samples->width * 4;
            if (units->words != NULL) {
                finish_words(units->words + row * stride, samples->width, samples, units->channels);
            } else {
                finish_row(units->bitmap.pixels + row * stride, samples->width, samples, ink);
            }
        }
        *rows = top = end;
    }
    return HALCYON_CODEC_OK;
}

halcyon_codec_status halcyon_tiff_read_samples(TIFF *tiff, const halcyon_tiff_samples *samples,
                                               const halcyon_tiff_layout *layout, halcyon_codec_bitmap bitmap,
                                               halcyon_codec_call *call, uint32_t *rows) {
    units units = {
        .tiff = tiff,
        .samples = samples,
        .bitmap = bitmap,
        .words = layout->words,
        .channels = layout->channels,
        .is_tiled = TIFFIsTiled(tiff) != 0,
    };
    if (units.is_tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &units.width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &units.height);
        (units.size = TIFFTileSize(tiff)), (units.row_size = TIFFTileRowSize(tiff));
    } else {
        units.width = samples->width;
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &units.height);
        if (units.height > samples->height) units.height = samples->height;
        (units.size = TIFFStripSize(tiff)), (units.row_size = TIFFScanlineSize(tiff));
    }
    // The bits of a row as they are read here.
    uint64_t row_samples = (uint64_t)units.width * (samples->is_planar ? 1u : samples->samples);
    uint64_t row_bytes = (row_samples * samples->bits + 7) / 8;
    if (units.width == 0 || units.height == 0 || units.row_size <= 0 || (uint64_t)units.row_size < row_bytes
        || units.size / units.row_size < (tmsize_t)units.height || (uint64_t)units.size > layout->most_bytes) {
        if (call->message[0] == 0) halcyon_set_message(call, "its strips or tiles have an impossible size");
        return HALCYON_CODEC_DAMAGED;
    }
    units.bytes = malloc((size_t)units.size);
    if (units.bytes == NULL) return HALCYON_CODEC_NO_MEMORY;
    halcyon_codec_status status = read_all(&units, layout->ink, call, rows);
    free(units.bytes);
    if (status == HALCYON_CODEC_DAMAGED && call->message[0] == 0) halcyon_set_message(call, "its pixels are cut off");
    return status;
}
