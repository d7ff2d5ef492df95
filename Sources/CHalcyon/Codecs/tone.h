#ifndef HALCYON_TONE_H
#define HALCYON_TONE_H

#include "halcyon_codecs.h"

/// The tables of a tone mapping, which is one block of memory.
typedef struct halcyon_tone halcyon_tone;

/// Returns NULL if there is no memory.
halcyon_tone *halcyon_tone_create(const halcyon_tone_curves *curves);

/// Converts RGBA of 16 bits to BGRA of 8, neither premultiplied.
void halcyon_tone_convert_words(const halcyon_tone *tone, const uint16_t *rgba, uint8_t *bgra, size_t pixels);

/// Converts BGRA that is not premultiplied in place.
void halcyon_tone_convert_bytes(const halcyon_tone *tone, uint8_t *bgra, size_t pixels);

#endif
