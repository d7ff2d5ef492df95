#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "floors.h"

typedef struct {
    struct jpeg_error_mgr errors;
    jmp_buf escape;
} guard;

static void leave(j_common_ptr info) {
    longjmp(((guard *)info->err)->escape, 1);
}

bool bench_decode_jpeg(const uint8_t *data, size_t size, int eighths, bench_bitmap *bitmap) {
    struct jpeg_decompress_struct info;
    guard guard;
    *bitmap = (bench_bitmap){0};
    info.err = jpeg_std_error(&guard.errors);
    guard.errors.error_exit = leave;
    if (setjmp(guard.escape)) {
        jpeg_destroy_decompress(&info);
        bench_free_bitmap(bitmap);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, size);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_EXT_BGRX;
    info.scale_num = (unsigned)eighths;
    info.scale_denom = 8;
    jpeg_start_decompress(&info);
    if (!bench_make_bitmap(bitmap, (int)info.output_width, (int)info.output_height)) longjmp(guard.escape, 1);
    size_t stride = (size_t)info.output_width * 4;
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = bitmap->pixels + info.output_scanline * stride;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return true;
}
