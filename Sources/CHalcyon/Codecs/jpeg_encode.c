#include <string.h>

#include "jpeg_support.h"

#include <jerror.h>

/// A destination that writes into a growing buffer. libjpeg's own loses its buffer when an error ends the work.
typedef struct {
    struct jpeg_destination_mgr manager;
    halcyon_codec_output *output;
} destination;

static void begin_block(j_compress_ptr info) {
    destination *target = (destination *)info->dest;
    if (!halcyon_reserve(target->output, 16384)) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    target->manager.next_output_byte = target->output->bytes + target->output->count;
    target->manager.free_in_buffer = target->output->capacity - target->output->count;
}

static boolean flush_block(j_compress_ptr info) {
    destination *target = (destination *)info->dest;
    // Called when the block is full; libjpeg does not keep free_in_buffer up to date here.
    target->output->count = target->output->capacity;
    begin_block(info);
    return TRUE;
}

static void end_block(j_compress_ptr info) {
    destination *target = (destination *)info->dest;
    target->output->count = target->output->capacity - target->manager.free_in_buffer;
}

/// Blends premultiplied pixels over an opaque colour.
static void lay_on(const uint8_t *bgra, uint8_t *result, int width, uint32_t background) {
    uint32_t blue = background & 255, green = background >> 8 & 255, red = background >> 16 & 255;
    for (int x = 0; x < width; x++, bgra += 4, result += 4) {
        uint32_t rest = 255 - bgra[3];
        uint32_t sums[3] = {bgra[0] + halcyon_div255(blue * rest), bgra[1] + halcyon_div255(green * rest),
                            bgra[2] + halcyon_div255(red * rest)};
        for (int i = 0; i < 3; i++) result[i] = sums[i] > 255 ? 255 : (uint8_t)sums[i];
        result[3] = 255;
    }
}

static void write_rows(j_compress_ptr info, halcyon_codec_bitmap bitmap, bool opaque, uint32_t background) {
    size_t stride = (size_t)bitmap.width * 4;
    JSAMPARRAY blended = NULL;
    if (!opaque) blended = info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, (JDIMENSION)stride, 1);
    while (info->next_scanline < info->image_height) {
        uint8_t *row = bitmap.pixels + info->next_scanline * stride;
        if (!opaque) {
            lay_on(row, blended[0], bitmap.width, background);
            row = blended[0];
        }
        JSAMPROW source = row;
        jpeg_write_scanlines(info, &source, 1);
    }
}

/// Sets the channels of the file. The defaults are YCbCr with the colours at half size both ways (4:2:0).
static void set_colors(j_compress_ptr info, halcyon_jpeg_colors colors) {
    if (colors == HALCYON_JPEG_GRAY) jpeg_set_colorspace(info, JCS_GRAYSCALE);
    if (colors == HALCYON_JPEG_FULL) info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = 1;
}

halcyon_codec_status halcyon_jpeg_encode(halcyon_codec_bitmap bitmap, bool opaque, uint32_t background, int quality,
                                         bool progressive, halcyon_jpeg_colors colors, halcyon_codec_output *output,
                                         halcyon_codec_call *call) {
    struct jpeg_compress_struct info;
    halcyon_jpeg_guard guard;
    destination target = {
        .manager = {.init_destination = begin_block, .empty_output_buffer = flush_block, .term_destination = end_block},
        .output = output,
    };
    memset(&info, 0, sizeof info);
    halcyon_jpeg_guard_errors(&guard, call, HALCYON_CODEC_FAILED, (j_common_ptr)&info);
    if (setjmp(guard.escape)) {
        jpeg_destroy_compress(&info);
        halcyon_discard(output);
        return guard.status;
    }
    jpeg_create_compress(&info);
    halcyon_jpeg_guard_progress(&guard, (j_common_ptr)&info);
    info.dest = &target.manager;
    info.image_width = (JDIMENSION)bitmap.width;
    info.image_height = (JDIMENSION)bitmap.height;
    info.input_components = 4;
    info.in_color_space = JCS_EXT_BGRX;
    jpeg_set_defaults(&info);
    set_colors(&info, colors);
    jpeg_set_quality(&info, quality, TRUE);
    info.optimize_coding = TRUE;
    if (progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    write_rows(&info, bitmap, opaque, background);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return HALCYON_CODEC_OK;
}
