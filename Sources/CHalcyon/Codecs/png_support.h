#ifndef HALCYON_PNG_SUPPORT_H
#define HALCYON_PNG_SUPPORT_H

#include <png.h>

#include "codecs_internal.h"

/// The state of libpng's error hook.
typedef struct {
    halcyon_codec_call *call;
    halcyon_codec_status status;
    /// The status that libpng's own errors have in this call.
    halcyon_codec_status failure;
} halcyon_png_guard;

/// libpng's error hook.
PNG_NORETURN void halcyon_png_fail(png_structp png, png_const_charp message);
/// libpng's warning hook: warnings are tolerated, as browsers do.
void halcyon_png_ignore(png_structp png, png_const_charp message);
/// Leaves libpng if the call is cancelled.
void halcyon_png_ask(png_structp png, halcyon_png_guard *guard);

#endif
