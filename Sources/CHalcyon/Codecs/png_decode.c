#ifdef HALCYON_PNG

#include <string.h>

#include "png_support.h"

typedef struct {
    const uint8_t *data;
    size_t size;
    size_t offset;
} source;

static void read_bytes(png_structp png, png_bytep bytes, size_t count) {
    source *from = png_get_io_ptr(png);
    if (count > from->size - from->offset) png_error(png, "the file was cut off");
    memcpy(bytes, from->data + from->offset, count);
    from->offset += count;
}

/// Chunks that change no pixel here: libpng would unpack them, and a compressed one of a few kilobytes can unpack to
/// gigabytes.
static void skip_metadata(png_structp png) {
    static const png_byte names[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
                                    "tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
}

/// Everything becomes 8-bit BGRA. Returns whether alpha can be below 255.
static bool set_up_conversion(png_structp png, png_infop info) {
    png_byte color = png_get_color_type(png, info);
    bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    png_set_expand(png);
    // Rounded; png_set_strip_16 would cut the lower byte off.
    png_set_scale_16(png);
    if (!(color & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    png_set_bgr(png);
    if (!has_alpha) png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    return has_alpha;
}

static void read_rows(png_structp png, halcyon_png_guard *guard, halcyon_codec_bitmap bitmap, bool has_alpha) {
    size_t stride = (size_t)bitmap.width * 4;
    int passes = png_set_interlace_handling(png);
    png_start_read_image(png);
    for (int pass = 0; pass < passes; pass++) {
        for (int y = 0; y < bitmap.height; y++) {
            if (y % HALCYON_ROWS_PER_QUESTION == 0) halcyon_png_ask(png, guard);
            uint8_t *row = bitmap.pixels + (size_t)y * stride;
            png_read_row(png, row, NULL);
            // Only once the row is whole, and while it is still in the processor's cache.
            if (has_alpha && pass == passes - 1) halcyon_premultiply(row, (size_t)bitmap.width);
        }
    }
}

static void check_layout(png_structp png, png_infop info, halcyon_codec_bitmap bitmap) {
    if (png_get_image_width(png, info) != (png_uint_32)bitmap.width
        || png_get_image_height(png, info) != (png_uint_32)bitmap.height) {
        png_error(png, "it decodes to another size than expected");
    }
}

halcyon_codec_status halcyon_png_decode(const uint8_t *data, size_t size, halcyon_codec_bitmap bitmap,
                                        halcyon_codec_call *call) {
    halcyon_png_guard guard = {.call = call, .status = HALCYON_CODEC_OK, .failure = HALCYON_CODEC_DAMAGED};
    source from = {.data = data, .size = size, .offset = 0};
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &guard, halcyon_png_fail, halcyon_png_ignore);
    if (png == NULL) return HALCYON_CODEC_NO_MEMORY;
    png_infop info = png_create_info_struct(png);
    if (info == NULL || setjmp(png_jmpbuf(png))) {
        halcyon_codec_status status = info == NULL ? HALCYON_CODEC_NO_MEMORY : guard.status;
        png_destroy_read_struct(&png, &info, NULL);
        return status;
    }
    png_set_read_fn(png, &from, read_bytes);
    // The header was checked against the caller's limits already; libpng's own end at a million.
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    skip_metadata(png);
    png_read_info(png, info);
    check_layout(png, info, bitmap);
    bool has_alpha = set_up_conversion(png, info);
    read_rows(png, &guard, bitmap, has_alpha);
    // Up to the end chunk, so that a file that was cut off behind its pixels is found out.
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    return HALCYON_CODEC_OK;
}

#endif
