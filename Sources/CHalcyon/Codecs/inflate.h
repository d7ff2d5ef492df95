// Unpacks deflate (RFC 1951) piece by piece, and refuses what zlib refuses.
#ifndef HALCYON_INFLATE_H
#define HALCYON_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /// The distance that matches reach back at most, in bytes.
    HALCYON_INFLATE_HISTORY = 1 << 15,
    /// The free bytes behind the output that a call needs to write any, and may fill with anything.
    HALCYON_INFLATE_SLACK = 320,
};

typedef enum {
    /// The room for output is used up.
    HALCYON_INFLATE_FULL,
    /// The last block has ended.
    HALCYON_INFLATE_END,
    /// The stream is damaged or cut off, or `read` gave up.
    HALCYON_INFLATE_BROKEN,
} halcyon_inflate_status;

/// The tables of a block's codes, by as many of the next bits as they say.
typedef struct {
    uint32_t *lengths, *distances;
    size_t length_room, distance_room;
    unsigned length_bits, distance_bits;
} halcyon_inflate_tables;

/// A stream. All fields but the first two are zero at first.
typedef struct {
    /// Writes the next bytes of the stream, at most `room`, and returns their number, which is 0 at its end.
    size_t (*read)(void *context, uint8_t *target, size_t room);
    void *context;
    /// The bits that were loaded and not used, the next one lowest, and their number.
    uint64_t bits;
    unsigned bit_count;
    /// The next byte to load, and the end of those that `input` has.
    const uint8_t *next, *end;
    bool is_at_end;
    enum { HALCYON_BLOCK_NONE, HALCYON_BLOCK_STORED, HALCYON_BLOCK_CODED } block;
    bool is_last_block;
    /// The bytes that a stored block still has.
    size_t stored;
    /// The tables of the present block, and those of the fixed codes, which are made once: a block may be as short as ten bits.
    halcyon_inflate_tables tables, fixed;
    /// The memory of both. The sizes suffice for any complete code of at most 15 bits of 288 and 32 symbols.
    uint32_t lengths[2342], distances[402], fixed_lengths[1 << 9], fixed_distances[1 << 5];
    uint8_t input[(1 << 14) + 64];
} halcyon_inflate;

/// Appends bytes at `*out` until the room before `end` is used up but for the slack, or the stream ends.
///
/// - Parameter start: the earliest byte of the output. At least the last 32 KiB before `*out` must still be there, or all.
halcyon_inflate_status halcyon_inflate_run(halcyon_inflate *stream, const uint8_t *start, uint8_t **out, uint8_t *end);

/// Returns whether at least `count` bytes, at most 64, follow those that were used.
bool halcyon_inflate_has_more(halcyon_inflate *stream, size_t count);

#endif
