#include "inflate_codes.h"

#include <string.h>

static const uint16_t length_bases[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_bases[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
                                            193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

/// Returns the entry of a symbol whose code has `bits`.
static uint32_t entry(code_kind kind, unsigned symbol, unsigned bits) {
    if (kind == CODE_OF_LENGTHS) return symbol << 16 | bits;
    if (kind == DISTANCES) {
        if (symbol >= 30) return SPECIAL;
        unsigned extra = symbol < 2 ? 0 : symbol / 2 - 1;
        return (uint32_t)distance_bases[symbol] << 16 | bits << 8 | (bits + extra);
    }
    if (symbol < 256) return symbol << 16 | LITERAL | 1 << 8 | bits;
    if (symbol == 256) return SPECIAL | END_OF_BLOCK | bits;
    symbol -= 257;
    if (symbol >= 29) return SPECIAL;
    return (uint32_t)length_bases[symbol] << 16 | bits << 8 | (bits + length_extra[symbol]);
}

/// Returns the number of symbols of a code, or 0 if it is not complete: each sequence of bits has to begin with a code. One code of
/// a single bit counts as well, and no code of a distance, as 1; nothing may use what is missing.
static unsigned count_symbols(code_kind kind, const unsigned counts[16]) {
    int left = 1;
    unsigned sum = 0;
    for (unsigned bits = 1; bits < 16; bits++) {
        left = left * 2 - (int)counts[bits];
        if (left < 0) return 0;
        sum += counts[bits];
    }
    if (left == 0) return sum;
    if (kind == CODE_OF_LENGTHS) return 0;
    return sum == 0 ? kind == DISTANCES : sum == 1 && counts[1] == 1;
}

/// Returns the bits that are enough to index the table of a code.
static unsigned index_bits(const unsigned counts[16], unsigned symbols, unsigned most) {
    // With few symbols, a small table is made faster than it would be used: blocks may be as short as ten bytes.
    if (symbols > 16) return most;
    unsigned longest = most;
    while (longest > 1 && counts[longest] == 0) longest--;
    for (unsigned bits = most + 1; bits < 16; bits++) longest = counts[bits] > 0 ? most : longest;
    return longest;
}

/// Returns the code after one of `bits`, both with their first bit lowest; for the last one, 0.
static unsigned next_code(unsigned code, unsigned bits) {
    unsigned bit = 1u << (bits - 1);
    while (code & bit) bit >>= 1;
    return bit == 0 ? 0 : (code & (bit - 1)) | bit;
}

/// Returns the number of bits that index the table for all codes with the same beginning, the shortest of which has `bits`.
static unsigned subtable_bits(const unsigned counts[16], unsigned bits, unsigned table_bits) {
    unsigned count = bits - table_bits;
    // The codes of the same beginning that are not longer, and are at most as many as fit.
    for (unsigned used = counts[bits]; bits < 15 && used < 1u << count; count++) used = used * 2 + counts[++bits];
    return count;
}

unsigned halcyon_inflate_make_table(code_kind kind, const uint8_t *lengths, unsigned symbols, uint32_t *table,
                                    size_t capacity, unsigned table_bits) {
    unsigned counts[16] = {0}, places[16] = {0};
    uint16_t sorted[288];
    for (unsigned symbol = 0; symbol < symbols; symbol++) counts[lengths[symbol]]++;
    counts[0] = 0;
    unsigned used = count_symbols(kind, counts);
    if (used == 0) return 0;
    table_bits = index_bits(counts, used, table_bits);
    for (unsigned bits = 1; bits < 15; bits++) places[bits + 1] = places[bits] + counts[bits];
    for (unsigned symbol = 0; symbol < symbols; symbol++) {
        if (lengths[symbol] != 0) sorted[places[lengths[symbol]]++] = (uint16_t)symbol;
    }
    // A table for one bit more is the former one twice; codes of its own length are in the places that are not taken.
    unsigned code = 0, done = 0;
    table[0] = SPECIAL;
    for (unsigned bits = 1; bits <= table_bits; bits++) {
        memcpy(table + (1u << (bits - 1)), table, sizeof *table << (bits - 1));
        for (unsigned i = 0; i < counts[bits]; i++, code = next_code(code, bits)) {
            table[code] = entry(kind, sorted[done++], bits);
        }
    }
    size_t end = (size_t)1 << table_bits, start = 0;
    unsigned beginning = UINT32_MAX, size = 0;
    for (unsigned bits = table_bits + 1; bits < 16; bits++) {
        for (; counts[bits] > 0; counts[bits]--, code = next_code(code, bits)) {
            if ((code & ((1u << table_bits) - 1)) != beginning) {
                beginning = code & ((1u << table_bits) - 1);
                unsigned more_bits = subtable_bits(counts, bits, table_bits);
                start = end;
                size = 1u << more_bits;
                end += size;
                if (end > capacity) return 0;
                table[beginning] = SPECIAL | SUBTABLE | (uint32_t)start << 16 | more_bits << 8 | table_bits;
            }
            uint32_t value = entry(kind, sorted[done++], bits - table_bits);
            for (unsigned i = code >> table_bits; i < size; i += 1u << (bits - table_bits)) table[start + i] = value;
        }
    }
    return table_bits;
}

/// Joins literals whose codes fit into the bits of one entry together.
static void join_literals(uint32_t *table, unsigned bits) {
    // From the end: the second one is found at a lower place, or at the same one if all bits are zero.
    for (unsigned i = 1u << bits; i-- > 0;) {
        uint32_t first = table[i];
        if (!(first & LITERAL)) continue;
        unsigned used = first & 0xFF;
        uint32_t second = table[i >> used];
        if (!(second & LITERAL) || used + (second & 0xFF) > bits) continue;
        table[i] = (second & 0xFF0000) << 8 | (first & 0xFF0000) | LITERAL | 2 << 8 | (used + (second & 0xFF));
    }
}

bool halcyon_inflate_make_tables(halcyon_inflate_tables *tables, const uint8_t *lengths, unsigned literals,
                                 unsigned distances) {
    tables->length_bits = halcyon_inflate_make_table(LITERALS_AND_LENGTHS, lengths, literals, tables->lengths,
                                                     tables->length_room, tables->length_bits);
    if (tables->length_bits == 0) return false;
    join_literals(tables->lengths, tables->length_bits);
    tables->distance_bits = halcyon_inflate_make_table(DISTANCES, lengths + literals, distances, tables->distances,
                                                       tables->distance_room, tables->distance_bits);
    return tables->distance_bits > 0;
}
