#ifndef HALCYON_PNG_SUPPORT_H
#define HALCYON_PNG_SUPPORT_H

#include <png.h>

#include "codecs_internal.h"

/// What libpng's error hook needs to know.
typedef struct {
    halcyon_codec_call *call;
    halcyon_codec_status status;
    /// What libpng's own errors mean for this call.
    halcyon_codec_status failure;
} halcyon_png_guard;

/// libpng's error hook.
PNG_NORETURN void halcyon_png_fail(png_structp png, png_const_charp message);
/// libpng's warning hook: what it goes on after is tolerated, as browsers do.
void halcyon_png_ignore(png_structp png, png_const_charp message);
/// Leaves libpng once nobody wants the result.
void halcyon_png_ask(png_structp png, halcyon_png_guard *guard);

#endif
