#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "floors.h"

typedef struct {
    const uint8_t *data;
    size_t size;
    size_t offset;
} source;

static int read_source(GifFileType *file, GifByteType *target, int count) {
    source *from = file->UserData;
    size_t left = from->size - from->offset;
    size_t length = (size_t)count < left ? (size_t)count : left;
    memcpy(target, from->data + from->offset, length);
    from->offset += length;
    return (int)length;
}

/// Over extensions up to the first frame's descriptor.
static bool find_frame(GifFileType *file) {
    while (true) {
        GifRecordType kind;
        if (DGifGetRecordType(file, &kind) != GIF_OK) return false;
        if (kind == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(file) == GIF_OK;
        if (kind != EXTENSION_RECORD_TYPE) return false;
        int code;
        GifByteType *block;
        if (DGifGetExtension(file, &code, &block) != GIF_OK) return false;
        while (block != NULL) {
            if (DGifGetExtensionNext(file, &block) != GIF_OK) return false;
        }
    }
}

static bool read_frame(GifFileType *file, bench_bitmap *bitmap) {
    const GifImageDesc *frame = &file->Image;
    const ColorMapObject *colors = frame->ColorMap != NULL ? frame->ColorMap : file->SColorMap;
    if (frame->Interlace || frame->Width != file->SWidth || frame->Height != file->SHeight || colors == NULL) return false;
    uint32_t palette[256] = {0};
    for (int i = 0; i < colors->ColorCount && i < 256; i++) {
        GifColorType color = colors->Colors[i];
        palette[i] = 255u << 24 | (uint32_t)color.Red << 16 | (uint32_t)color.Green << 8 | color.Blue;
    }
    GifPixelType *line = malloc((size_t)frame->Width);
    bool is_done = line != NULL && bench_make_bitmap(bitmap, frame->Width, frame->Height);
    for (int y = 0; is_done && y < frame->Height; y++) {
        is_done = DGifGetLine(file, line, frame->Width) == GIF_OK;
        uint32_t *row = (uint32_t *)bitmap->pixels + (size_t)y * (size_t)frame->Width;
        for (int x = 0; x < frame->Width; x++) row[x] = palette[line[x]];
    }
    free(line);
    return is_done;
}

bool bench_decode_gif(const uint8_t *data, size_t size, bench_bitmap *bitmap) {
    *bitmap = (bench_bitmap){0};
    source from = {.data = data, .size = size};
    GifFileType *file = DGifOpen(&from, read_source, NULL);
    if (file == NULL) return false;
    bool is_done = find_frame(file) && read_frame(file, bitmap);
    DGifCloseFile(file, NULL);
    if (!is_done) bench_free_bitmap(bitmap);
    return is_done;
}
