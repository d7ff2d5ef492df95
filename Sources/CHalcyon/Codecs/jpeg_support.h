#ifndef HALCYON_JPEG_SUPPORT_H
#define HALCYON_JPEG_SUPPORT_H

#include <setjmp.h>
#include <stdio.h>
// jpeglib.h requires stdio.h.
#include <jpeglib.h>

#include "codecs_internal.h"

/// The error and progress hooks of libjpeg, and the jump out of it. One object per call, on the stack of the function
/// that calls setjmp.
typedef struct {
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    halcyon_codec_call *call;
    halcyon_codec_status status;
    /// The status that libjpeg's own errors have in this call.
    halcyon_codec_status failure;
    unsigned steps;
    /// Whether the data ended before its end marker.
    bool is_cut;
    /// Whether pixels may be missing behind the end of the data. They are grey.
    bool allows_missing;
} halcyon_jpeg_guard;

/// Installs the error hook in `info`, before jpeg_create_*.
void halcyon_jpeg_guard_errors(halcyon_jpeg_guard *guard, halcyon_codec_call *call, halcyon_codec_status failure,
                               j_common_ptr info);
/// Installs the progress hook, after jpeg_create_*, which clears it.
void halcyon_jpeg_guard_progress(halcyon_jpeg_guard *guard, j_common_ptr info);

/// Leaves libjpeg with a status and a message of Halcyon's own.
_Noreturn void halcyon_jpeg_leave(j_common_ptr info, halcyon_codec_status status, const char *message);

/// Leaves libjpeg if a file has more scans than any real one, or if they would cost more passes over its pixels than
/// any real one's.
void halcyon_jpeg_check_scans(j_decompress_ptr info);

/// Leaves libjpeg if a component has no scan, or if the data ended before its end marker and scans may be missing. Called once all that
/// arrived is read.
void halcyon_jpeg_check_end(j_decompress_ptr info);

/// Checks the scans, and every sixteenth time the cancellation. This is libjpeg's progress hook; it must be called by
/// hand where libjpeg does not call it.
void halcyon_jpeg_watch(j_common_ptr info);

/// Sets the layout and the scale once the header is read, and leaves libjpeg if they do not give the planned size.
void halcyon_jpeg_prepare(j_decompress_ptr info, const halcyon_jpeg_layout *layout);

/// Converts ink to light. May change `cmyk`.
void halcyon_jpeg_convert_cmyk(uint8_t *cmyk, uint8_t *bgra, size_t width, bool inverted, halcyon_codec_ink ink);

#endif
