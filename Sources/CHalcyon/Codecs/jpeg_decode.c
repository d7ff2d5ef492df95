#ifdef HALCYON_JPEG

#include <string.h>

#include "jpeg_support.h"

static void read_rows(j_decompress_ptr info, halcyon_codec_bitmap bitmap) {
    size_t stride = (size_t)bitmap.width * 4;
    bool is_cmyk = info->out_color_space == JCS_CMYK;
    JSAMPARRAY cmyk = NULL;
    if (is_cmyk) {
        cmyk = info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, (JDIMENSION)stride, 1);
    }
    while (info->output_scanline < info->output_height) {
        uint8_t *row = bitmap.pixels + info->output_scanline * stride;
        JSAMPROW target = is_cmyk ? cmyk[0] : row;
        if (jpeg_read_scanlines(info, &target, 1) != 1) {
            halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "the rows end too early");
        }
        if (is_cmyk) halcyon_jpeg_convert_cmyk(cmyk[0], row, bitmap.width, info->saw_Adobe_marker);
    }
}

halcyon_codec_status halcyon_jpeg_decode(const uint8_t *data, size_t size, int stored_width, int stored_height,
                                         int eighths, halcyon_codec_bitmap bitmap, halcyon_codec_call *call) {
    struct jpeg_decompress_struct info;
    halcyon_jpeg_guard guard;
    memset(&info, 0, sizeof info);
    halcyon_jpeg_guard_errors(&guard, call, HALCYON_CODEC_DAMAGED, (j_common_ptr)&info);
    if (setjmp(guard.escape)) {
        jpeg_destroy_decompress(&info);
        return guard.status;
    }
    jpeg_create_decompress(&info);
    halcyon_jpeg_guard_progress(&guard, (j_common_ptr)&info);
    jpeg_mem_src(&info, data, size);
    jpeg_read_header(&info, TRUE);
    halcyon_jpeg_prepare(&info, stored_width, stored_height, eighths, bitmap.width, bitmap.height);
    jpeg_start_decompress(&info);
    read_rows(&info, bitmap);
    // Reads on to the end marker, so that a file that was cut off between two scans is found out.
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return HALCYON_CODEC_OK;
}

#endif
