#include "png_support.h"

#include <string.h>

PNG_NORETURN void halcyon_png_fail(png_structp png, png_const_charp message) {
    halcyon_png_guard *guard = png_get_error_ptr(png);
    if (guard->status == HALCYON_CODEC_OK) {
        // libpng has no error codes, and two wordings for a lack of memory.
        bool memory = message != NULL && (strstr(message, "emory") != NULL);
        guard->status = memory ? HALCYON_CODEC_NO_MEMORY : guard->failure;
        halcyon_set_message(guard->call, message);
    }
    png_longjmp(png, 1);
}

void halcyon_png_ignore(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

void halcyon_png_ask(png_structp png, halcyon_png_guard *guard) {
    if (!halcyon_is_cancelled(guard->call)) return;
    guard->status = HALCYON_CODEC_CANCELLED;
    png_error(png, "cancelled");
}
