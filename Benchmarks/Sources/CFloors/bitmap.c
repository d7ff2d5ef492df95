#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "floors.h"

bool bench_make_bitmap(bench_bitmap *bitmap, int width, int height) {
    size_t size = (size_t)width * (size_t)height * 4;
    bitmap->width = width;
    bitmap->height = height;
    bitmap->capacity = size;
    bool is_large = size >= 1 << 20;
    void *pixels = NULL;
    if (posix_memalign(&pixels, is_large ? 1 << 21 : 64, size) != 0) return false;
    if (is_large) madvise(pixels, size, MADV_HUGEPAGE);
    bitmap->pixels = pixels;
    return true;
}

void bench_free_bitmap(bench_bitmap *bitmap) {
    free(bitmap->pixels);
    *bitmap = (bench_bitmap){0};
}
