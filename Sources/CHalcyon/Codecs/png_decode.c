#include "png_support.h"

#include <stdlib.h>
#include <string.h>

/// The number of bytes that libpng gets between two checks for cancellation. A smaller one would make it copy large
/// chunks over and over.
static const size_t piece = 1 << 24;

/// The state of a decode, which libpng's hooks advance as far as the data reaches.
typedef struct {
    halcyon_png_guard guard;
    halcyon_png_layout layout;
    /// All rows, or a single row if the rows go to the sink.
    uint8_t *pixels;
    bool has_one_row;
    halcyon_codec_rows sink;
    /// A row of 16 bits a channel.
    uint16_t *words;
    /// All rows of 16 bits a channel, in the place of `pixels`.
    uint16_t *deep_pixels;
    bool has_alpha;
    bool is_interlaced;
    bool is_started;
    bool is_finished;
    /// The first row to deliver; those before have been.
    int first_row;
    /// The number of rows that have arrived, of an interlaced file those of every pass.
    int rows;
} decoding;

/// Skips chunks that change no pixel here: libpng would unpack them, and a compressed one of a few kilobytes can
/// unpack to gigabytes.
static void skip_metadata(png_structp png) {
    static const png_byte names[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
                                    "tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
}

/// Sets up the conversion of all formats to 8-bit BGRA or 16-bit RGBA. Returns whether alpha can be below its
/// maximum.
static bool set_up_conversion(png_structp png, png_infop info, bool is_deep) {
    png_byte color = png_get_color_type(png, info);
    png_bytep alpha = NULL;
    png_color_16p transparent = NULL;
    int count = 0;
    // A tRNS before the palette is dropped by libpng, which still says that it is valid.
    bool has_transparency = png_get_tRNS(png, info, &alpha, &count, &transparent) != 0 && count > 0;
    bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0 || has_transparency;
    png_set_expand(png);
    if (!(color & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    if (is_deep) {
        png_set_expand_16(png);
        // In the machine's byte order.
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(png);
    } else {
        // This rounds; png_set_strip_16 would truncate to the upper byte.
        png_set_scale_16(png);
        png_set_bgr(png);
    }
    if (!has_alpha) png_set_add_alpha(png, is_deep ? 65535 : 255, PNG_FILLER_AFTER);
    return has_alpha;
}

static void check_layout(png_structp png, png_infop info, halcyon_png_layout layout) {
    if (png_get_image_width(png, info) != (png_uint_32)layout.width
        || png_get_image_height(png, info) != (png_uint_32)layout.height) {
        png_error(png, "it decodes to another size than expected");
    }
}

/// Called before the first pixel.
static void start(png_structp png, png_infop info) {
    decoding *state = png_get_progressive_ptr(png);
    // Called again if pixels follow another chunk: libpng drops them.
    if (state->is_started) return;
    state->is_started = true;
    check_layout(png, info, state->layout);
    size_t width = (size_t)state->layout.width;
    bool is_converted = state->layout.deep.convert != NULL && png_get_interlace_type(png, info) == PNG_INTERLACE_NONE;
    bool is_deep = state->deep_pixels != NULL || is_converted;
    state->has_alpha = set_up_conversion(png, info, is_deep);
    state->is_interlaced = png_set_interlace_handling(png) > 1;
    if (state->is_interlaced && state->has_one_row) png_error(png, "its rows do not come in order");
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != width * (is_deep ? 8 : 4)) {
        png_error(png, "it decodes to another layout than expected");
    }
    if (is_converted) state->words = png_malloc(png, width * 8);
}

static void take_row(png_structp png, png_bytep new_row, png_uint_32 y, int pass) {
    (void)pass;
    decoding *state = png_get_progressive_ptr(png);
    if (y % HALCYON_ROWS_PER_QUESTION == 0) halcyon_png_ask(png, &state->guard);
    if (new_row == NULL || y >= (png_uint_32)state->layout.height) return;
    size_t width = (size_t)state->layout.width;
    if (state->deep_pixels != NULL) {
        png_progressive_combine_row(png, (png_bytep)(state->deep_pixels + (size_t)y * width * 4), new_row);
        state->rows++;
        return;
    }
    uint8_t *row = state->pixels + (state->has_one_row ? 0 : (size_t)y * width * 4);
    if (state->words != NULL) {
        png_progressive_combine_row(png, (png_bytep)state->words, new_row);
        state->layout.deep.convert(state->layout.deep.context, state->words, row, width);
    } else {
        png_progressive_combine_row(png, row, new_row);
    }
    state->rows++;
    // Premultiplied while the row is still in the processor's cache; the rows of an interlaced file are not complete
    // yet.
    if (state->has_alpha && !state->is_interlaced) halcyon_premultiply(row, width);
    if (state->has_one_row && (int)y >= state->first_row) state->sink.put(state->sink.context, (int)y, row);
}

/// Returns whether every row has arrived. Some errors in the compressed data only make libpng stop unpacking it.
static bool has_all_rows(png_structp png, const decoding *state) {
    return state->is_started
           && (state->is_interlaced ? png_get_current_pass_number(png) > 6
                                    : png_get_current_row_number(png) >= (png_uint_32)state->layout.height);
}

/// Called at the end chunk, or where the data ends without it.
static void finish(png_structp png, png_infop info) {
    (void)info;
    decoding *state = png_get_progressive_ptr(png);
    if (!has_all_rows(png, state)) png_error(png, "its pixels end too early");
    if (state->has_alpha && state->is_interlaced && state->deep_pixels == NULL) {
        halcyon_premultiply(state->pixels, (size_t)state->layout.width * (size_t)state->layout.height);
    }
    state->is_finished = true;
}

static void set_up_reader(png_structp png, decoding *state) {
    // The header was already checked against the caller's limits; libpng's own default is a million.
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    skip_metadata(png);
    // An image whose pixels can all be unpacked is shown, whatever its checksums say: browsers do so for the last one of the pixels
    // and the end. A changed header or palette would be another image, so their checksums are compared before.
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    // The push reader is used even if all data is present: it skips compressed data after the last row, which the
    // other reader unpacks to its end, up to a thousand times its length.
    png_set_progressive_read_fn(png, state, start, take_row, finish);
}

/// Reads up to the end chunk, which may be missing.
static void read_file(png_structp png, png_infop info, decoding *state, const uint8_t *data, size_t size) {
    set_up_reader(png, state);
    for (size_t offset = 0; offset < size && !state->is_finished; offset += piece) {
        halcyon_png_ask(png, &state->guard);
        size_t count = size - offset < piece ? size - offset : piece;
        // libpng only reads the bytes.
        png_process_data(png, info, (png_bytep)data + offset, count);
    }
    if (state->is_finished) return;
    if (!has_all_rows(png, state)) png_error(png, "the file was cut off");
    finish(png, info);
}

static halcyon_codec_status decode(const uint8_t *data, size_t size, decoding *state) {
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &state->guard, halcyon_png_fail, halcyon_png_ignore);
    if (png == NULL) return HALCYON_CODEC_NO_MEMORY;
    png_infop info = png_create_info_struct(png);
    if (info == NULL) {
        png_destroy_read_struct(&png, NULL, NULL);
        return HALCYON_CODEC_NO_MEMORY;
    }
    if (setjmp(png_jmpbuf(png)) == 0) read_file(png, info, state, data, size);
    if (state->words != NULL) png_free(png, state->words);
    png_destroy_read_struct(&png, &info, NULL);
    return state->guard.status;
}

halcyon_codec_status halcyon_png_decode(const uint8_t *data, size_t size, halcyon_png_layout layout, uint8_t *pixels,
                                        halcyon_codec_rows sink, halcyon_codec_call *call) {
    int rows = 0;
    if (layout.plain != NULL) {
        halcyon_codec_status status = halcyon_png_read_plain(data, size, layout, pixels, sink, &rows, call);
        if (status != HALCYON_CODEC_DAMAGED) return status;
    }
    uint8_t *row = pixels != NULL ? NULL : calloc((size_t)layout.width, 4);
    if (pixels == NULL && row == NULL) return HALCYON_CODEC_NO_MEMORY;
    decoding state = {
        .guard = {.call = call, .status = HALCYON_CODEC_OK, .failure = HALCYON_CODEC_DAMAGED},
        .layout = layout,
        .pixels = pixels != NULL ? pixels : row,
        .has_one_row = pixels == NULL,
        .sink = sink,
        .first_row = rows,
    };
    halcyon_codec_status status = decode(data, size, &state);
    free(row);
    return status;
}

halcyon_codec_status halcyon_png_decode_deep(const uint8_t *data, size_t size, int width, int height, uint16_t *words,
                                             halcyon_codec_call *call) {
    decoding state = {
        .guard = {.call = call, .status = HALCYON_CODEC_OK, .failure = HALCYON_CODEC_DAMAGED},
        .layout = {.width = width, .height = height},
        .deep_pixels = words,
    };
    return decode(data, size, &state);
}

/// The longest chunk, other than pixels, that libpng's push reader gets. It collects such a chunk before it parses
/// it, and copies the collected bytes with each part that arrives.
static const uint32_t largest_chunk = 1 << 16;

/// The replacement of a longer one: an empty chunk without a meaning.
static const uint8_t empty_chunk[12] = {0, 0, 0, 0, 's', 'k', 'I', 'p', 0x6D, 0xF2, 0x71, 0xDF};

struct halcyon_png_stream {
    decoding state;
    png_structp png;
    png_infop info;
    bool is_set_up;
    /// The file's signature, then the length and name of the current chunk, as far as they have arrived.
    uint8_t head[8];
    size_t head_bytes;
    bool has_signature;
    /// The number of bytes of the chunk's body and checksum that have not arrived.
    uint64_t rest;
    bool is_skipped;
};

halcyon_png_stream *halcyon_png_stream_create(halcyon_png_layout layout) {
    halcyon_png_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->state.guard.failure = HALCYON_CODEC_DAMAGED;
    // Cleared, so that missing rows are transparent.
    stream->state.layout = layout;
    stream->state.pixels = calloc((size_t)layout.width * (size_t)layout.height, 4);
    stream->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &stream->state.guard, halcyon_png_fail,
                                         halcyon_png_ignore);
    if (stream->png != NULL) stream->info = png_create_info_struct(stream->png);
    if (stream->info == NULL || stream->state.pixels == NULL) {
        halcyon_png_stream_free(stream);
        return NULL;
    }
    return stream;
}

void halcyon_png_stream_free(halcyon_png_stream *stream) {
    if (stream->state.words != NULL) png_free(stream->png, stream->state.words);
    if (stream->png != NULL) png_destroy_read_struct(&stream->png, &stream->info, NULL);
    free(stream->state.pixels);
    free(stream);
}

static void feed(halcyon_png_stream *stream, const uint8_t *data, size_t size) {
    // libpng only reads the bytes.
    png_process_data(stream->png, stream->info, (png_bytep)data, size);
}

/// Handles the complete head of a chunk.
static void begin_chunk(halcyon_png_stream *stream) {
    const uint8_t *head = stream->head, *name = head + 4;
    uint32_t length = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
    stream->rest = (uint64_t)length + 4;
    stream->is_skipped = length > largest_chunk && memcmp(name, "IDAT", 4) != 0;
    if (!stream->is_skipped) {
        feed(stream, head, sizeof stream->head);
        return;
    }
    // An uppercase letter marks a critical chunk, which no reader may skip. libpng itself detects a missing palette.
    if ((name[0] & 0x20) == 0 && memcmp(name, "PLTE", 4) != 0) png_error(stream->png, "a chunk is too long");
    feed(stream, empty_chunk, sizeof empty_chunk);
}

/// Takes bytes of a head, and returns their number.
static size_t take_head(halcyon_png_stream *stream, const uint8_t *data, size_t size) {
    size_t missing = sizeof stream->head - stream->head_bytes;
    size_t count = size < missing ? size : missing;
    memcpy(stream->head + stream->head_bytes, data, count);
    stream->head_bytes += count;
    if (stream->head_bytes < sizeof stream->head) return count;
    stream->head_bytes = 0;
    if (stream->has_signature) {
        begin_chunk(stream);
    } else {
        stream->has_signature = true;
        feed(stream, stream->head, sizeof stream->head);
    }
    return count;
}

/// A separate function, so that no local variable of the function with the setjmp changes after it.
static void append_pieces(halcyon_png_stream *stream, const uint8_t *data, size_t size) {
    if (!stream->is_set_up) {
        set_up_reader(stream->png, &stream->state);
        stream->is_set_up = true;
    }
    halcyon_png_ask(stream->png, &stream->state.guard);
    for (size_t offset = 0; offset < size && !stream->state.is_finished;) {
        size_t count = size - offset < piece ? size - offset : piece;
        if (stream->rest == 0) {
            offset += take_head(stream, data + offset, count);
            continue;
        }
        if (count > stream->rest) count = (size_t)stream->rest;
        if (!stream->is_skipped) feed(stream, data + offset, count);
        stream->rest -= count;
        offset += count;
    }
}

halcyon_codec_status halcyon_png_stream_append(halcyon_png_stream *stream, const uint8_t *data, size_t size,
                                               halcyon_codec_call *call) {
    if (stream->state.guard.status != HALCYON_CODEC_OK) return stream->state.guard.status;
    stream->state.guard.call = call;
    if (setjmp(png_jmpbuf(stream->png)) == 0) append_pieces(stream, data, size);
    return stream->state.guard.status;
}

int halcyon_png_stream_rows(const halcyon_png_stream *stream) {
    return stream->state.rows;
}

bool halcyon_png_stream_is_finished(const halcyon_png_stream *stream) {
    return stream->state.is_finished;
}

bool halcyon_png_stream_is_whole(const halcyon_png_stream *stream) {
    return stream->state.is_finished || has_all_rows(stream->png, &stream->state);
}

void halcyon_png_stream_read(const halcyon_png_stream *stream, halcyon_codec_bitmap bitmap) {
    size_t pixels = (size_t)bitmap.width * (size_t)bitmap.height;
    memcpy(bitmap.pixels, stream->state.pixels, pixels * 4);
    // For an interlaced file this is done at the end.
    if (stream->state.has_alpha && stream->state.is_interlaced && !stream->state.is_finished) {
        halcyon_premultiply(bitmap.pixels, pixels);
    }
}
