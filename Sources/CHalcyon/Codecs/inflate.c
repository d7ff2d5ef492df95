#include "inflate.h"

#include <halcyon_variants.h>
#include <string.h>

#include "inflate_codes.h"

enum {
    /// The bytes that may be loaded beyond those that are used, as zeros at the end of the stream.
    MARGIN = 32,
    /// The most bytes that the codes of a block take, and some more.
    LARGEST_HEADER = 640,
};

ALWAYS uint64_t load64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

ALWAYS uint64_t low(uint64_t bits, unsigned count) {
    return bits & (((uint64_t)1 << count) - 1);
}

/// Moves what is left of the input to its front and reads on, until `wanted` bytes are there or the stream ends, behind
/// which zeros follow. Bytes that were loaded and not used stay before the next one, as a stored block begins with them.
static void read_input(halcyon_inflate *stream, size_t wanted) {
    size_t loaded = stream->bit_count / 8, filled = (size_t)(stream->end - stream->next) + loaded;
    memmove(stream->input, stream->next - loaded, filled);
    while (!stream->is_at_end && filled < wanted + loaded) {
        size_t room = sizeof stream->input - MARGIN * 2 - filled;
        size_t count = stream->read(stream->context, stream->input + filled, room);
        stream->is_at_end = count == 0;
        filled += count;
    }
    stream->next = stream->input + loaded;
    stream->end = stream->input + filled;
    if (stream->is_at_end) memset(stream->input + filled, 0, MARGIN * 2);
}

/// Makes sure that `wanted` bytes of input are there, or all that the stream still has. No more bytes may have been
/// loaded than there are.
static void ensure_input(halcyon_inflate *stream, size_t wanted) {
    if (!stream->is_at_end && (size_t)(stream->end - stream->next) < wanted) read_input(stream, wanted);
}

/// Whether bits have been used that lie beyond the end of the stream.
static bool is_overrun(const halcyon_inflate *stream) {
    return stream->next - stream->bit_count / 8 > stream->end;
}

/// Loads bits up to 56 at least.
ALWAYS void refill(halcyon_inflate *stream) {
    // Beyond the end there are only zeros, and no more than the margin.
    if (stream->next > stream->end + 8) return;
    stream->bits |= load64(stream->next) << stream->bit_count;
    stream->next += (63 - stream->bit_count) >> 3;
    stream->bit_count |= 56;
}

/// Takes up to 32 bits. They are zeros beyond the end of the stream.
static uint32_t take(halcyon_inflate *stream, unsigned count) {
    refill(stream);
    if (count > stream->bit_count) return 0;
    uint32_t value = (uint32_t)low(stream->bits, count);
    stream->bits >>= count;
    stream->bit_count -= count;
    return value;
}

// Blocks

/// Selects the fixed codes.
static bool use_fixed_codes(halcyon_inflate *stream) {
    if (stream->fixed.lengths == NULL) {
        uint8_t lengths[288 + 32];
        for (unsigned symbol = 0; symbol < 288; symbol++) {
            lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
        }
        memset(lengths + 288, 5, 32);
        stream->fixed = (halcyon_inflate_tables){stream->fixed_lengths, stream->fixed_distances, 1 << 9, 1 << 5, 9, 5};
        if (!halcyon_inflate_make_tables(&stream->fixed, lengths, 288, 32)) return false;
    }
    stream->tables = stream->fixed;
    return true;
}

/// Reads the codes of a block.
static bool read_codes(halcyon_inflate *stream) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned literals = take(stream, 5) + 257, distances = take(stream, 5) + 1, count = take(stream, 4) + 4;
    if (literals > 286 || distances > 30) return false;
    uint8_t lengths[286 + 30] = {0};
    for (unsigned i = 0; i < count; i++) lengths[order[i]] = (uint8_t)take(stream, 3);
    uint32_t table[1 << 7];
    unsigned table_bits = halcyon_inflate_make_table(CODE_OF_LENGTHS, lengths, 19, table, 1 << 7, 7);
    if (table_bits == 0) return false;
    for (unsigned i = 0; i < literals + distances;) {
        refill(stream);
        uint32_t found = table[low(stream->bits, table_bits)];
        if (is_overrun(stream)) return false;
        (void)take(stream, found & 0xFF);
        unsigned symbol = found >> 16 & 0xFF, repeats = 1;
        uint8_t length = (uint8_t)symbol;
        if (symbol >= 16) {
            if (symbol == 16 && i == 0) return false;
            length = symbol == 16 ? lengths[i - 1] : 0;
            repeats = symbol == 16 ? 3 + take(stream, 2) : symbol == 17 ? 3 + take(stream, 3) : 11 + take(stream, 7);
        }
        if (repeats > literals + distances - i) return false;
        memset(lengths + i, length, repeats);
        i += repeats;
    }
    stream->tables = (halcyon_inflate_tables){
        .lengths = stream->lengths,
        .distances = stream->distances,
        .length_room = sizeof stream->lengths / sizeof *stream->lengths,
        .distance_room = sizeof stream->distances / sizeof *stream->distances,
        // Both tables stay in the first cache of a processor, and most codes are in them.
        .length_bits = 11,
        .distance_bits = 8,
    };
    return lengths[256] != 0 && halcyon_inflate_make_tables(&stream->tables, lengths, literals, distances);
}

static bool begin_stored(halcyon_inflate *stream) {
    (void)take(stream, stream->bit_count % 8);
    uint32_t length = take(stream, 16);
    if ((length ^ take(stream, 16)) != 0xFFFF) return false;
    // The whole bytes that were loaded are given back.
    stream->next -= stream->bit_count / 8;
    stream->bits = 0;
    stream->bit_count = 0;
    stream->stored = length;
    stream->block = HALCYON_BLOCK_STORED;
    return true;
}

static bool begin_block(halcyon_inflate *stream) {
    ensure_input(stream, LARGEST_HEADER);
    stream->is_last_block = take(stream, 1) == 1;
    uint32_t kind = take(stream, 2);
    stream->block = HALCYON_BLOCK_CODED;
    bool is_known = kind == 0   ? begin_stored(stream)
                    : kind == 1 ? use_fixed_codes(stream)
                    : kind == 2 ? read_codes(stream)
                                : false;
    return is_known && !is_overrun(stream);
}

/// Copies bytes of a stored block. Returns whether there were enough of them.
static bool copy_stored(halcyon_inflate *stream, uint8_t **out, const uint8_t *end) {
    while (stream->stored > 0 && *out < end) {
        ensure_input(stream, 1);
        size_t count = (size_t)(stream->end - stream->next);
        if (count == 0) return false;
        if (count > stream->stored) count = stream->stored;
        if (count > (size_t)(end - *out)) count = (size_t)(end - *out);
        memcpy(*out, stream->next, count);
        stream->next += count;
        *out += count;
        stream->stored -= count;
    }
    if (stream->stored == 0) stream->block = HALCYON_BLOCK_NONE;
    return true;
}

typedef unsigned __int128 word128;

/// Copies a match within the output. Writes up to 16 bytes more.
ALWAYS void copy_match(uint8_t *out, size_t distance, size_t length) {
    /// The greatest multiple of a distance within a word.
    static const uint8_t steps[16] = {0, 16, 16, 15, 16, 15, 12, 14, 16, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t *from = out - distance, *end = out + length;
    word128 word;
    memcpy(&word, from, sizeof word);
    if (distance >= sizeof word) {
        for (;;) {
            memcpy(out, &word, sizeof word);
            out += sizeof word;
            if (out >= end) return;
            from += sizeof word;
            memcpy(&word, from, sizeof word);
        }
    }
    // A shorter pattern is repeated within the word. What lies behind the output is masked out.
    unsigned count = (unsigned)distance * 8;
    word &= ((word128)1 << count) - 1;
    for (; count < 128; count *= 2) word |= word << count;
    for (; out < end; out += steps[distance]) memcpy(out, &word, sizeof word);
}

/// The state of a stream within a block, in registers.
typedef struct {
    const uint8_t *next;
    uint8_t *out;
    uint64_t bits;
    unsigned count;
} cursor;

/// Loads bits up to 56 at least.
ALWAYS void load_bits(cursor *at) {
    at->bits |= load64(at->next) << at->count;
    at->next += (63 - at->count) >> 3;
    at->count |= 56;
}

ALWAYS void use(cursor *at, uint32_t found) {
    at->bits >>= found & 0xFF;
    at->count -= found & 0xFF;
}

ALWAYS uint32_t look_up(const cursor *at, const uint32_t *table, unsigned bits) {
    return table[low(at->bits, bits)];
}

/// Returns the entry of a code that is longer than the index of its table.
ALWAYS uint32_t follow(cursor *at, const uint32_t *table, uint32_t found) {
    if (!(found & SUBTABLE)) return found;
    use(at, found);
    return table[(found >> 16) + low(at->bits, found >> 8 & 15)];
}

ALWAYS void put_literals(cursor *at, uint32_t found) {
    at->out[0] = (uint8_t)(found >> 16);
    at->out[1] = (uint8_t)(found >> 24);
    at->out += found >> 8 & 15;
    use(at, found);
}

/// Returns a length or distance with its extra bits.
ALWAYS size_t take_value(cursor *at, uint32_t found) {
    size_t value = (found >> 16) + (low(at->bits, found & 0xFF) >> (found >> 8 & 15));
    use(at, found);
    return value;
}

/// Decodes symbols of the block while there are input and room. Returns false if one is invalid.
ALWAYS bool decode_symbols(halcyon_inflate *stream, const uint8_t *start, uint8_t **out, const uint8_t *end) {
    const halcyon_inflate_tables tables = stream->tables;
    const uint8_t *limit = stream->is_at_end ? stream->end + 8 : stream->end - MARGIN;
    cursor at = {stream->next, *out, stream->bits, stream->bit_count};
    bool is_valid = true;
    while (at.next < limit && at.out < end) {
        load_bits(&at);
        uint32_t found = look_up(&at, tables.lengths, tables.length_bits);
        // Three entries of literals take at most 33 of 56 bits, and two with a length and its extra bits 42.
        if (found & LITERAL) {
            put_literals(&at, found);
            found = look_up(&at, tables.lengths, tables.length_bits);
            if (found & LITERAL) {
                put_literals(&at, found);
                found = look_up(&at, tables.lengths, tables.length_bits);
                if (found & LITERAL) {
                    put_literals(&at, found);
                    continue;
                }
            }
        }
        if (found & SPECIAL) {
            found = follow(&at, tables.lengths, found);
            if (found & LITERAL) {
                put_literals(&at, found);
                continue;
            }
            if (found & SPECIAL) {
                use(&at, found);
                is_valid = (found & END_OF_BLOCK) != 0;
                stream->block = HALCYON_BLOCK_NONE;
                break;
            }
        }
        size_t length = take_value(&at, found);
        load_bits(&at);
        found = look_up(&at, tables.distances, tables.distance_bits);
        if (found & SPECIAL) found = follow(&at, tables.distances, found);
        size_t distance = take_value(&at, found);
        if ((found & SPECIAL) || distance > (size_t)(at.out - start)) {
            is_valid = false;
            break;
        }
        copy_match(at.out, distance, length);
        at.out += length;
    }
    stream->next = at.next;
    stream->bits = at.bits;
    stream->bit_count = at.count;
    *out = at.out;
    return is_valid;
}

VARIANTS(bool, symbols, (halcyon_inflate *stream, const uint8_t *start, uint8_t **out, const uint8_t *end),
         decode_symbols(stream, start, out, end))

halcyon_inflate_status halcyon_inflate_run(halcyon_inflate *stream, const uint8_t *start, uint8_t **out, uint8_t *end) {
    if (stream->next == NULL) stream->next = stream->end = stream->input;
    if (end - *out < HALCYON_INFLATE_SLACK) return HALCYON_INFLATE_FULL;
    end -= HALCYON_INFLATE_SLACK;
    while (*out < end) {
        if (stream->block == HALCYON_BLOCK_NONE) {
            if (stream->is_last_block) return HALCYON_INFLATE_END;
            if (!begin_block(stream)) return HALCYON_INFLATE_BROKEN;
        }
        if (stream->block == HALCYON_BLOCK_STORED) {
            if (!copy_stored(stream, out, end)) return HALCYON_INFLATE_BROKEN;
            continue;
        }
        ensure_input(stream, MARGIN * 2);
        if (!VARIANT(symbols)(stream, start, out, end) || is_overrun(stream)) return HALCYON_INFLATE_BROKEN;
    }
    return HALCYON_INFLATE_FULL;
}

bool halcyon_inflate_has_more(halcyon_inflate *stream, size_t count) {
    ensure_input(stream, count);
    return stream->end - (stream->next - stream->bit_count / 8) >= (ptrdiff_t)count;
}
