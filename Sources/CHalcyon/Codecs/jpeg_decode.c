#include <string.h>

#include "jpeg_support.h"

static JSAMPROW make_row(j_decompress_ptr info, int width) {
    return info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, (JDIMENSION)width * 4, 1)[0];
}

static void read_rows(j_decompress_ptr info, const halcyon_jpeg_layout *layout, uint8_t *pixels,
                      halcyon_codec_rows sink) {
    size_t stride = (size_t)layout->width * 4;
    JSAMPROW cmyk = info->out_color_space == JCS_CMYK ? make_row(info, layout->width) : NULL;
    uint8_t *row = pixels != NULL ? pixels : make_row(info, layout->width);
    while (info->output_scanline < info->output_height) {
        int number = (int)info->output_scanline;
        uint8_t *place = pixels == NULL && sink.place != NULL ? sink.place(sink.context, number) : NULL;
        uint8_t *result = place != NULL ? place : row;
        JSAMPROW target = cmyk != NULL ? cmyk : result;
        if (jpeg_read_scanlines(info, &target, 1) != 1) {
            halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "the rows end too early");
        }
        if (cmyk != NULL) {
            halcyon_jpeg_convert_cmyk(cmyk, result, (size_t)layout->width, info->saw_Adobe_marker, layout->ink);
        }
        if (pixels != NULL) {
            row += stride;
        } else {
            sink.put(sink.context, number, result);
        }
    }
}

halcyon_codec_status halcyon_jpeg_decode(const uint8_t *data, size_t size, const halcyon_jpeg_layout *layout,
                                         uint8_t *pixels, halcyon_codec_rows sink, halcyon_codec_call *call) {
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
    halcyon_jpeg_prepare(&info, layout);
    jpeg_start_decompress(&info);
    read_rows(&info, layout, pixels, sink);
    halcyon_jpeg_check_end(&info);
    // Reads up to the end marker, which may be missing.
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return HALCYON_CODEC_OK;
}
