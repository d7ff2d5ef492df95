#include <stdlib.h>
#include <string.h>

#include "jpeg_support.h"

/// The most that the average of a block may be, in coefficients, beside the half of its quantizer: 1024 for samples of 8 bits, and some
/// for encoders that brighten white before they cut it.
static const int largest_average = 1280;
/// The most that the coefficients of one parity in a block may sum up to. Those of samples of 8 bits reach 5793, the square root of 32
/// times 2^20, by Parseval's theorem. libjpeg-turbo computes in 16 bits, of which more than 5906 * 1.387 * 4 leave nothing.
static const int largest_sum = 5906;

static void check_block(j_decompress_ptr info, const JCOEF *block, const JQUANT_TBL *table) {
    int64_t sums[2] = {0, 0};
    for (int index = 0; index < DCTSIZE2; index++) {
        // The column is the frequency of a row, which libjpeg transforms last.
        sums[index & 1] += (int64_t)abs(block[index]) * table->quantval[index];
    }
    int64_t average = (int64_t)abs(block[0]) * table->quantval[0];
    if (average > largest_average + table->quantval[0] / 2 || sums[0] > largest_sum || sums[1] > largest_sum) {
        halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "its coefficients are of no picture of 8 bits");
    }
}

static void check_component(j_decompress_ptr info, jvirt_barray_ptr blocks, int index) {
    jpeg_component_info *component = info->comp_info + index;
    // The first of the finer coefficients, without which libjpeg smooths the edges of blocks.
    for (int place = 1; info->coef_bits != NULL && place < 10; place++) {
        if (info->coef_bits[index][place] != 0) {
            halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "its scans leave out details");
        }
    }
    for (JDIMENSION row = 0; row < component->height_in_blocks; row++) {
        JBLOCKARRAY rows = info->mem->access_virt_barray((j_common_ptr)info, blocks, row, 1, FALSE);
        for (JDIMENSION column = 0; column < component->width_in_blocks; column++) {
            check_block(info, rows[0][column], component->quant_table);
        }
        halcyon_jpeg_watch((j_common_ptr)info);
    }
}

halcyon_codec_status halcyon_jpeg_check_coefficients(const uint8_t *data, size_t size, halcyon_codec_call *call) {
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
    jvirt_barray_ptr *blocks = jpeg_read_coefficients(&info);
    halcyon_jpeg_check_end(&info);
    for (int index = 0; index < info.num_components; index++) {
        if (info.comp_info[index].quant_table == NULL) {
            halcyon_jpeg_leave((j_common_ptr)&info, HALCYON_CODEC_DAMAGED, "the scans of a component are missing");
        }
        check_component(&info, blocks[index], index);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return HALCYON_CODEC_OK;
}
