#include "jpeg_support.h"

#include <jerror.h>

static halcyon_jpeg_guard *guard_of(j_common_ptr info) {
    return (halcyon_jpeg_guard *)info->err;
}

_Noreturn void halcyon_jpeg_leave(j_common_ptr info, halcyon_codec_status status, const char *message) {
    halcyon_jpeg_guard *guard = guard_of(info);
    guard->status = status;
    halcyon_set_message(guard->call, message);
    longjmp(guard->escape, 1);
}

static void leave_with_current_message(j_common_ptr info) {
    halcyon_jpeg_guard *guard = guard_of(info);
    char message[JMSG_LENGTH_MAX];
    info->err->format_message(info, message);
    bool memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
    halcyon_jpeg_leave(info, memory ? HALCYON_CODEC_NO_MEMORY : guard->failure, message);
}

/// Handles a message. Level -1 is a warning: the file is irregular, and libjpeg goes on.
static void judge_warning(j_common_ptr info, int level) {
    if (level >= 0) return;
    switch (info->err->msg_code) {
    // The data ends before its end marker, which libjpeg then supplies: no pixel need be missing. Only an arithmetic decoder
    // does not tell whether one is.
    case JWRN_JPEG_EOF:
        guard_of(info)->is_cut = true;
        if (info->is_decompressor && ((j_decompress_ptr)info)->arith_code) leave_with_current_message(info);
        break;
    // A marker comes before the pixels do: libjpeg fills the missing part with grey. Halcyon does not accept that as an
    // image, because it is what a broken transfer looks like.
    case JWRN_HIT_MARKER:
        if (!guard_of(info)->allows_missing) leave_with_current_message(info);
        break;
    // All other warnings are tolerated, as browsers do: bytes between segments (EXTRANEOUS_DATA) and odd headers
    // (ADOBE_XFORM, NOT_SEQUENTIAL, BOGUS_PROGRESSION, JFIF_MAJOR) change no pixel, and a bad code (HUFF_BAD_CODE,
    // ARITH_BAD_CODE) or a lost restart marker (MUST_RESYNC) garbles a few blocks of an image that is otherwise
    // complete.
    default:
        break;
    }
}

static void be_silent(j_common_ptr info) {
    (void)info;
}

void halcyon_jpeg_check_scans(j_decompress_ptr info) {
    // A progressive file of a few kilobytes can declare thousands of scans, each of which costs a pass over the whole
    // image. Real encoders write about ten.
    if (info->input_scan_number > 500) {
        halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "it has more than 500 scans");
    }
    uint64_t work = (uint64_t)info->input_scan_number * info->image_width * info->image_height;
    if (info->input_scan_number > 32 && work > UINT64_C(1) << 31) {
        halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "it has too many scans for its size");
    }
}

void halcyon_jpeg_check_end(j_decompress_ptr info) {
    if (!jpeg_has_multiple_scans(info)) return;
    for (int component = 0; component < info->num_components; component++) {
        // Each scan sets the tables of its components; the first one of a progressive file brings the averages.
        bool has_scan = info->comp_info[component].quant_table != NULL;
        if (has_scan && info->coef_bits != NULL) has_scan = info->coef_bits[component][0] >= 0;
        if (!has_scan) halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "the scans of a component are missing");
    }
    if (!guard_of((j_common_ptr)info)->is_cut) return;
    // The precision that is missing of each coefficient, which only progressive files tell.
    bool is_whole = info->coef_bits != NULL;
    for (int component = 0; is_whole && component < info->num_components; component++) {
        for (int index = 0; index < DCTSIZE2; index++) is_whole = is_whole && info->coef_bits[component][index] == 0;
    }
    if (!is_whole) halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "its last scans are missing");
}

void halcyon_jpeg_watch(j_common_ptr info) {
    halcyon_jpeg_guard *guard = guard_of(info);
    if (info->is_decompressor) halcyon_jpeg_check_scans((j_decompress_ptr)info);
    // Called for each row, or for each row of blocks while a progressive file is read.
    if (guard->steps++ % 16 == 0 && halcyon_is_cancelled(guard->call)) {
        halcyon_jpeg_leave(info, HALCYON_CODEC_CANCELLED, "cancelled");
    }
}

void halcyon_jpeg_guard_errors(halcyon_jpeg_guard *guard, halcyon_codec_call *call, halcyon_codec_status failure,
                               j_common_ptr info) {
    info->err = jpeg_std_error(&guard->errors);
    guard->errors.error_exit = leave_with_current_message;
    guard->errors.emit_message = judge_warning;
    guard->errors.output_message = be_silent;
    guard->call = call;
    guard->failure = failure;
    guard->status = HALCYON_CODEC_OK;
    guard->steps = 0;
    guard->is_cut = false;
    guard->allows_missing = false;
}

void halcyon_jpeg_guard_progress(halcyon_jpeg_guard *guard, j_common_ptr info) {
    guard->progress = (struct jpeg_progress_mgr){.progress_monitor = halcyon_jpeg_watch};
    info->progress = &guard->progress;
}

/// Converts ink to light. Adobe's files store the remaining light (255 is no ink), others the ink itself.
void halcyon_jpeg_convert_cmyk(uint8_t *cmyk, uint8_t *bgra, size_t width, bool inverted, halcyon_codec_ink ink) {
    if (ink.convert != NULL) {
        if (inverted) {
            for (size_t i = 0; i < width * 4; i++) cmyk[i] ^= 255;
        }
        ink.convert(ink.context, cmyk, bgra, width);
        return;
    }
    uint8_t flip = inverted ? 0 : 255;
    for (size_t x = 0; x < width; x++, cmyk += 4, bgra += 4) {
        uint32_t light = cmyk[3] ^ flip;
        bgra[0] = halcyon_div255((uint32_t)(cmyk[2] ^ flip) * light);
        bgra[1] = halcyon_div255((uint32_t)(cmyk[1] ^ flip) * light);
        bgra[2] = halcyon_div255((uint32_t)(cmyk[0] ^ flip) * light);
        bgra[3] = 255;
    }
}

void halcyon_jpeg_prepare(j_decompress_ptr info, const halcyon_jpeg_layout *layout) {
    if ((int)info->image_width != layout->stored_width || (int)info->image_height != layout->stored_height) {
        halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "it has two headers that disagree");
    }
    // Decodes directly to the bitmap's layout, except ink, which libjpeg does not convert to light.
    info->out_color_space = info->num_components == 4 ? JCS_CMYK : JCS_EXT_BGRA;
    info->scale_num = (unsigned)layout->eighths;
    info->scale_denom = 8;
    jpeg_calc_output_dimensions(info);
    if ((int)info->output_width != layout->width || (int)info->output_height != layout->height) {
        halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "it decodes to another size than expected");
    }
}
