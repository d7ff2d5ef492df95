#include <stdlib.h>
#include <string.h>

#include "jpeg_support.h"

typedef enum { READING_HEADER, STARTING, READING_SCANS, READING_ROWS, FINISHING, FINISHED } phase;

struct halcyon_jpeg_stream {
    struct jpeg_decompress_struct info;
    halcyon_jpeg_guard guard;
    struct jpeg_source_mgr source;
    /// The bytes that libjpeg has not used yet.
    halcyon_codec_output pending;
    /// The number of bytes that libjpeg wants to skip and that have not arrived yet.
    size_t to_skip;
    phase phase;
    halcyon_codec_status status;
    halcyon_jpeg_layout layout;
    /// The rows so far, for a single scan. libjpeg returns each row only once.
    uint8_t *rows;
    JSAMPARRAY cmyk;
};

static void do_nothing(j_decompress_ptr info) {
    (void)info;
}

/// Reports that there is no more data yet; libjpeg then returns to the last point where it can resume.
static boolean suspend(j_decompress_ptr info) {
    (void)info;
    return FALSE;
}

static void skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    halcyon_jpeg_stream *stream = info->client_data;
    size_t available = info->src->bytes_in_buffer;
    size_t now = (size_t)count < available ? (size_t)count : available;
    info->src->next_input_byte += now;
    info->src->bytes_in_buffer -= now;
    stream->to_skip = (size_t)count - now;
}

halcyon_jpeg_stream *halcyon_jpeg_stream_create(const halcyon_jpeg_layout *layout) {
    halcyon_jpeg_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->layout = *layout;
    stream->source = (struct jpeg_source_mgr){
        .init_source = do_nothing,
        .fill_input_buffer = suspend,
        .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = do_nothing,
    };
    halcyon_codec_call call = {0};
    halcyon_jpeg_guard_errors(&stream->guard, &call, HALCYON_CODEC_DAMAGED, (j_common_ptr)&stream->info);
    if (setjmp(stream->guard.escape)) {
        halcyon_jpeg_stream_free(stream);
        return NULL;
    }
    jpeg_create_decompress(&stream->info);
    halcyon_jpeg_guard_progress(&stream->guard, (j_common_ptr)&stream->info);
    stream->info.src = &stream->source;
    stream->info.client_data = stream;
    return stream;
}

void halcyon_jpeg_stream_free(halcyon_jpeg_stream *stream) {
    if (stream == NULL) return;
    jpeg_destroy_decompress(&stream->info);
    halcyon_discard(&stream->pending);
    free(stream->rows);
    free(stream);
}

/// Appends the new bytes to those that are still unused, and drops the used ones.
static bool take_in(halcyon_jpeg_stream *stream, const uint8_t *data, size_t size) {
    size_t skipped = stream->to_skip < size ? stream->to_skip : size;
    stream->to_skip -= skipped;
    size_t unused = stream->source.bytes_in_buffer;
    if (unused > 0) memmove(stream->pending.bytes, stream->source.next_input_byte, unused);
    stream->pending.count = unused;
    if (size > skipped && !halcyon_append(&stream->pending, data + skipped, size - skipped)) return false;
    stream->source.next_input_byte = stream->pending.bytes;
    stream->source.bytes_in_buffer = stream->pending.count;
    return true;
}

/// Starts the decode. Several scans are kept as coefficients, and each preview is made from them; a single one is
/// decoded row by row.
static void start(halcyon_jpeg_stream *stream) {
    j_decompress_ptr info = &stream->info;
    if (!jpeg_start_decompress(info)) return;
    if (info->buffered_image) {
        stream->phase = READING_SCANS;
        return;
    }
    size_t stride = (size_t)stream->layout.width * 4;
    stream->rows = calloc((size_t)stream->layout.height, stride);
    if (stream->rows == NULL) halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_NO_MEMORY, "no memory for the rows");
    if (info->out_color_space == JCS_CMYK) {
        stream->cmyk = info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, (JDIMENSION)stride, 1);
    }
    stream->phase = READING_ROWS;
}

static void read_scans(halcyon_jpeg_stream *stream) {
    while (true) {
        // Consumes a row of blocks, or the data up to the next scan.
        int result = jpeg_consume_input(&stream->info);
        halcyon_jpeg_watch((j_common_ptr)&stream->info);
        if (result == JPEG_SUSPENDED) return;
        if (result == JPEG_REACHED_EOI) {
            stream->phase = FINISHED;
            return;
        }
    }
}

/// Reads one row into `row`; false if libjpeg needs more data for it.
static bool read_row(halcyon_jpeg_stream *stream, uint8_t *row) {
    JSAMPROW target = stream->cmyk != NULL ? stream->cmyk[0] : row;
    if (jpeg_read_scanlines(&stream->info, &target, 1) != 1) return false;
    if (stream->cmyk != NULL) {
        halcyon_jpeg_convert_cmyk(target, row, (size_t)stream->layout.width, stream->info.saw_Adobe_marker,
                                  stream->layout.ink);
    }
    return true;
}

static void read_rows(halcyon_jpeg_stream *stream) {
    while (stream->info.output_scanline < stream->info.output_height) {
        if (!read_row(stream, stream->rows + (size_t)stream->info.output_scanline * (size_t)stream->layout.width * 4)) return;
    }
    stream->phase = FINISHING;
}

/// Advances as far as the data reaches: each phase that completes hands over to the next.
static void advance(halcyon_jpeg_stream *stream) {
    j_decompress_ptr info = &stream->info;
    phase before;
    do {
        before = stream->phase;
        switch (before) {
        case READING_HEADER:
            if (jpeg_read_header(info, TRUE) == JPEG_SUSPENDED) break;
            halcyon_jpeg_prepare(info, &stream->layout);
            info->buffered_image = jpeg_has_multiple_scans(info);
            stream->phase = STARTING;
            break;
        case STARTING: start(stream); break;
        case READING_SCANS: read_scans(stream); break;
        case READING_ROWS: read_rows(stream); break;
        case FINISHING:
            if (jpeg_finish_decompress(info)) stream->phase = FINISHED;
            break;
        case FINISHED: break;
        }
    } while (stream->phase != before);
}

/// Prepares a stream for one call; false if it has failed before.
static bool enter(halcyon_jpeg_stream *stream, halcyon_codec_call *call) {
    stream->guard.call = call;
    if (stream->status == HALCYON_CODEC_OK) return true;
    halcyon_set_message(call, "an earlier call on this stream failed");
    return false;
}

halcyon_codec_status halcyon_jpeg_stream_append(halcyon_jpeg_stream *stream, const uint8_t *data, size_t size,
                                                halcyon_codec_call *call) {
    // Bytes after the end are tolerated.
    if (!enter(stream, call) || stream->phase == FINISHED) return stream->status;
    if (!take_in(stream, data, size)) return stream->status = HALCYON_CODEC_NO_MEMORY;
    if (setjmp(stream->guard.escape)) return stream->status = stream->guard.status;
    if (halcyon_is_cancelled(call)) {
        halcyon_jpeg_leave((j_common_ptr)&stream->info, HALCYON_CODEC_CANCELLED, "cancelled");
    }
    advance(stream);
    return HALCYON_CODEC_OK;
}

halcyon_codec_status halcyon_jpeg_stream_end(halcyon_jpeg_stream *stream, bool allows_missing,
                                             halcyon_codec_call *call) {
    if (!enter(stream, call) || stream->phase < READING_SCANS) return stream->status;
    if (stream->phase != FINISHED) stream->guard.is_cut = true;
    stream->guard.allows_missing = allows_missing;
    // End markers as libjpeg supplies them to a file, enough to fill the longest segment.
    uint8_t markers[1 << 10];
    for (size_t index = 0; index < sizeof markers; index++) markers[index] = index % 2 == 0 ? 0xFF : JPEG_EOI;
    for (int count = 0; count < 65 && stream->phase != FINISHED; count++) {
        if (halcyon_jpeg_stream_append(stream, markers, sizeof markers, call) != HALCYON_CODEC_OK) return stream->status;
    }
    if (stream->phase != FINISHED || !stream->info.buffered_image || allows_missing) return stream->status;
    if (setjmp(stream->guard.escape)) return stream->status = stream->guard.status;
    halcyon_jpeg_check_end(&stream->info);
    return HALCYON_CODEC_OK;
}

halcyon_jpeg_progress halcyon_jpeg_stream_progress(const halcyon_jpeg_stream *stream) {
    const struct jpeg_decompress_struct *info = &stream->info;
    halcyon_jpeg_progress progress = {.is_finished = stream->phase == FINISHED};
    if (stream->phase == READING_HEADER || stream->phase == STARTING) return progress;
    progress.has_scans = info->buffered_image;
    if (progress.has_scans) {
        // The scan that is being read is not complete.
        progress.scans = progress.is_finished ? info->input_scan_number : info->input_scan_number - 1;
    } else {
        progress.rows = progress.is_finished ? stream->layout.height : (int)info->output_scanline;
    }
    return progress;
}

/// Makes one pass over the coefficients. It never waits for data, because the scan that it shows is complete.
static void read_scan(halcyon_jpeg_stream *stream, int scan, halcyon_codec_bitmap bitmap) {
    j_decompress_ptr info = &stream->info;
    if (info->out_color_space == JCS_CMYK && stream->cmyk == NULL) {
        stream->cmyk = info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, (JDIMENSION)bitmap.width * 4, 1);
    }
    bool is_whole = jpeg_start_output(info, scan);
    while (is_whole && info->output_scanline < info->output_height) {
        is_whole = read_row(stream, bitmap.pixels + (size_t)info->output_scanline * (size_t)bitmap.width * 4);
    }
    if (!is_whole || !jpeg_finish_output(info)) {
        halcyon_jpeg_leave((j_common_ptr)info, HALCYON_CODEC_DAMAGED, "a scan ends too early");
    }
}

halcyon_codec_status halcyon_jpeg_stream_read(halcyon_jpeg_stream *stream, halcyon_codec_bitmap bitmap,
                                              halcyon_codec_call *call) {
    if (!enter(stream, call)) return stream->status;
    halcyon_jpeg_progress progress = halcyon_jpeg_stream_progress(stream);
    bool is_there = progress.has_scans ? progress.scans > 0 : stream->rows != NULL;
    if (!is_there || bitmap.width != stream->layout.width || bitmap.height != stream->layout.height) {
        halcyon_set_message(call, "there is nothing to show yet");
        return HALCYON_CODEC_FAILED;
    }
    if (!progress.has_scans) {
        memcpy(bitmap.pixels, stream->rows, (size_t)bitmap.width * 4 * (size_t)bitmap.height);
        return HALCYON_CODEC_OK;
    }
    if (setjmp(stream->guard.escape)) return stream->status = stream->guard.status;
    read_scan(stream, progress.scans, bitmap);
    return HALCYON_CODEC_OK;
}
