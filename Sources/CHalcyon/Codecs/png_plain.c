// Reads the rows of a PNG without libpng, in less than half of its time: zlib takes several times as long to unpack them, and
// libpng itself passes over a row once for each step. libpng decides about all that is not taken here.
#include <halcyon_variants.h>
#include <stdlib.h>
#include <string.h>

#include "codecs_internal.h"
#include "inflate.h"
#include "png_filters.h"

/// The bytes that are unpacked at a time, beyond a row.
enum { ROOM = 1 << 15 };

/// The place within the IDAT chunks.
typedef struct {
    const uint8_t *next, *end;
    /// The bytes of the present chunk that are left.
    size_t rest;
    halcyon_codec_call *call;
    bool is_cancelled;
} chunk_reader;

static uint32_t read32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Copies the next bytes of the chunks. Returns 0 at the end, or if the call is cancelled.
static size_t read_chunks(void *context, uint8_t *target, size_t room) {
    chunk_reader *reader = context;
    if (halcyon_is_cancelled(reader->call)) reader->is_cancelled = true;
    size_t done = 0;
    while (!reader->is_cancelled && done < room) {
        if (reader->rest == 0) {
            // A length, a name, and behind the body a checksum.
            if (reader->end - reader->next < 12) break;
            size_t length = read32(reader->next);
            if (length > (size_t)(reader->end - reader->next) - 12) break;
            reader->rest = length;
            reader->next += length == 0 ? 12 : 8;
            continue;
        }
        size_t count = reader->rest < room - done ? reader->rest : room - done;
        memcpy(target + done, reader->next, count);
        done += count;
        reader->rest -= count;
        reader->next += count + (reader->rest == 0 ? 4 : 0);
    }
    return done;
}

// Pixels

ALWAYS void expand_rgb(const uint8_t *rgb, uint32_t *bgra, size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        const uint8_t *from = rgb + x * 3;
        bgra[x] = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2] | 0xFF000000u;
    }
}

ALWAYS void expand_rgba(const uint8_t *rgba, uint8_t *bgra, size_t pixels) {
    for (size_t x = 0; x < pixels; x++, rgba += 4, bgra += 4) {
        uint32_t alpha = rgba[3];
        bgra[0] = halcyon_div255(rgba[2] * alpha);
        bgra[1] = halcyon_div255(rgba[1] * alpha);
        bgra[2] = halcyon_div255(rgba[0] * alpha);
        bgra[3] = (uint8_t)alpha;
    }
}

ALWAYS void expand_gray_alpha(const uint8_t *from, uint32_t *bgra, size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        uint32_t alpha = from[x * 2 + 1];
        bgra[x] = halcyon_div255(from[x * 2] * alpha) * 0x010101u | alpha << 24;
    }
}

/// Looks up colours by indices of 1, 2, 4 or 8 bits, the first one highest.
ALWAYS void expand_indices(const uint8_t *from, int bits, const uint32_t *colors, uint32_t *bgra, size_t pixels) {
    if (bits == 8) {
        for (size_t x = 0; x < pixels; x++) bgra[x] = colors[from[x]];
        return;
    }
    size_t in_byte = 8 / (size_t)bits;
    unsigned mask = (1u << bits) - 1;
    for (size_t x = 0; x < pixels; x += in_byte, from++) {
        size_t count = pixels - x < in_byte ? pixels - x : in_byte;
        for (size_t i = 0; i < count; i++) bgra[x + i] = colors[*from >> (8 - bits * ((int)i + 1)) & mask];
    }
}

ALWAYS void expand_row(const halcyon_png_plain *plain, const uint8_t *from, uint8_t *bgra, size_t pixels) {
    switch (plain->channels) {
    case 1: expand_indices(from, plain->bits, plain->colors, (uint32_t *)bgra, pixels); break;
    case 2: expand_gray_alpha(from, (uint32_t *)bgra, pixels); break;
    case 3: expand_rgb(from, (uint32_t *)bgra, pixels); break;
    default: expand_rgba(from, bgra, pixels); break;
    }
}

VARIANTS(void, expand, (const halcyon_png_plain *plain, const uint8_t *from, uint8_t *bgra, size_t pixels),
         expand_row(plain, from, bgra, pixels))

// Rows

typedef struct {
    halcyon_png_plain plain;
    size_t width, height;
    uint8_t *pixels;
    halcyon_codec_rows sink;
    /// The next row.
    size_t y;
    size_t row_bytes;
    /// The present row and the one above.
    uint8_t *rows[2];
    /// One row of pixels, if they go to the sink.
    uint8_t *bgra;
    /// The output of the stream: where it begins, what no row has used yet, and where it goes on.
    uint8_t *window, *unused, *out, *window_end;
    chunk_reader chunks;
    halcyon_inflate stream;
} reading;

/// Takes a row with its filter. Returns whether that is valid.
static bool take_row(reading *state, const uint8_t *filtered) {
    uint8_t *row = state->rows[state->y % 2], *above = state->rows[(state->y + 1) % 2];
    int pixel_bytes = state->plain.channels;
    if (!halcyon_png_unfilter(filtered, above, row, state->row_bytes, pixel_bytes)) return false;
    uint8_t *bgra = state->bgra != NULL ? state->bgra : state->pixels + state->y * state->width * 4;
    VARIANT(expand)(&state->plain, row, bgra, state->width);
    if (state->bgra != NULL) state->sink.put(state->sink.context, (int)state->y, bgra);
    state->y++;
    return true;
}

/// Moves the output that is still needed to the front of the window: the history, and rows that are not complete.
static void move_window(reading *state) {
    const uint8_t *kept = state->window;
    if (state->out - kept > HALCYON_INFLATE_HISTORY) kept = state->out - HALCYON_INFLATE_HISTORY;
    if (state->unused < kept) kept = state->unused;
    size_t moved = (size_t)(kept - state->window);
    memmove(state->window, kept, (size_t)(state->out - kept));
    state->out -= moved;
    state->unused -= moved;
}

/// Unpacks a part of the rows into the window.
static halcyon_inflate_status unpack(reading *state) {
    move_window(state);
    return halcyon_inflate_run(&state->stream, state->window, &state->out, state->window_end);
}

/// Returns whether libpng would accept how the stream goes on once all rows are there: it ends, with a checksum behind, or has more
/// output, which libpng does not read. That the input ends is an error of libpng's, which has to say what it is near it.
static bool ends_well(reading *state, halcyon_inflate_status status) {
    while (status == HALCYON_INFLATE_FULL && state->out == state->unused) status = unpack(state);
    if (status == HALCYON_INFLATE_BROKEN) return false;
    return halcyon_inflate_has_more(&state->stream, status == HALCYON_INFLATE_END ? 4 : 16);
}

/// Returns the status of the call: damaged wherever libpng has to decide.
static halcyon_codec_status read_rows(reading *state) {
    for (;;) {
        halcyon_inflate_status status = unpack(state);
        if (state->chunks.is_cancelled) return HALCYON_CODEC_CANCELLED;
        if (status == HALCYON_INFLATE_BROKEN) return HALCYON_CODEC_DAMAGED;
        while (state->y < state->height && (size_t)(state->out - state->unused) > state->row_bytes) {
            if (state->y % HALCYON_ROWS_PER_QUESTION == 0 && halcyon_is_cancelled(state->chunks.call)) {
                return HALCYON_CODEC_CANCELLED;
            }
            if (!take_row(state, state->unused)) return HALCYON_CODEC_DAMAGED;
            state->unused += state->row_bytes + 1;
        }
        if (state->y == state->height) {
            bool is_good = ends_well(state, status);
            if (state->chunks.is_cancelled) return HALCYON_CODEC_CANCELLED;
            return is_good ? HALCYON_CODEC_OK : HALCYON_CODEC_DAMAGED;
        }
        if (status == HALCYON_INFLATE_END) return HALCYON_CODEC_DAMAGED;
    }
}

/// Returns whether the first two bytes are a header of zlib for which libpng needs no larger window than it says.
static bool is_header(const uint8_t header[2], size_t row_bytes, size_t height) {
    if ((header[0] & 15) != 8 || header[0] >> 4 > 7 || (header[1] & 32) != 0) return false;
    if (((unsigned)header[0] << 8 | header[1]) % 31 != 0) return false;
    size_t window = (size_t)256 << (header[0] >> 4);
    return window == HALCYON_INFLATE_HISTORY || (row_bytes + 1) <= window / height;
}

/// Lays out the memory of the rows and reads them.
static halcyon_codec_status read_file(reading *state) {
    size_t row_room = state->row_bytes + HALCYON_PNG_ROW_MARGIN, pixels = state->pixels == NULL ? state->width * 4 : 0;
    size_t window = HALCYON_INFLATE_HISTORY + row_room + ROOM + HALCYON_INFLATE_SLACK;
    // Cleared, since there are zeros above the first row.
    uint8_t *memory = calloc(1, pixels + row_room * 2 + window);
    if (memory == NULL) return HALCYON_CODEC_NO_MEMORY;
    state->bgra = pixels > 0 ? memory : NULL;
    state->rows[0] = memory + pixels;
    state->rows[1] = state->rows[0] + row_room;
    state->window = state->unused = state->out = state->rows[1] + row_room;
    state->window_end = state->window + window;
    halcyon_codec_status status = read_rows(state);
    free(memory);
    return status;
}

halcyon_codec_status halcyon_png_read_plain(const uint8_t *data, size_t size, halcyon_png_layout layout, uint8_t *pixels,
                                            halcyon_codec_rows sink, int *rows, halcyon_codec_call *call) {
    halcyon_png_plain plain = *layout.plain;
    *rows = 0;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || plain.start > plain.end || plain.end > size) {
        return HALCYON_CODEC_DAMAGED;
    }
    reading *state = malloc(sizeof *state);
    if (state == NULL) return HALCYON_CODEC_NO_MEMORY;
    // Without the tables and the buffers, which are written before they are read.
    memset(state, 0, offsetof(reading, stream.lengths));
    state->plain = plain;
    state->width = (size_t)layout.width;
    state->height = (size_t)layout.height;
    state->row_bytes = (state->width * (size_t)(plain.channels * plain.bits) + 7) / 8;
    state->pixels = pixels;
    state->sink = sink;
    state->chunks = (chunk_reader){.next = data + plain.start, .end = data + plain.end, .call = call};
    state->stream.read = read_chunks;
    state->stream.context = &state->chunks;
    uint8_t header[2];
    halcyon_codec_status status = HALCYON_CODEC_DAMAGED;
    if (read_chunks(&state->chunks, header, 2) == 2 && is_header(header, state->row_bytes, state->height)) {
        status = read_file(state);
    } else if (state->chunks.is_cancelled) {
        status = HALCYON_CODEC_CANCELLED;
    }
    *rows = (int)state->y;
    free(state);
    return status;
}
