// The tables by which symbols of deflate are decoded.
#ifndef HALCYON_INFLATE_CODES_H
#define HALCYON_INFLATE_CODES_H

#include "inflate.h"

// An entry of a table has the number of bits that a symbol takes in bits 0 to 7, the same without its extra bits in bits 8
// to 11, and the base of its length or distance from bit 16 on. An entry of literals has their number in bits 8 to 11, and one or
// two of them from bit 16 on.
enum {
    LITERAL = 1 << 12,
    END_OF_BLOCK = 1 << 13,
    /// The value is the place of a table for longer codes, which is indexed by as many bits as bits 8 to 11 say.
    SUBTABLE = 1 << 14,
    /// Neither a literal nor a base: one of the above, or a code without a symbol.
    SPECIAL = 1 << 15,
};

typedef enum { CODE_OF_LENGTHS, LITERALS_AND_LENGTHS, DISTANCES } code_kind;

/// Makes the table of a code from the lengths of its symbols, at most 288.
///
/// - Returns: the number of bits that index the table, at most `table_bits`; 0 if zlib refuses the code.
unsigned halcyon_inflate_make_table(code_kind kind, const uint8_t *lengths, unsigned symbols, uint32_t *table,
                                    size_t capacity, unsigned table_bits);

/// Makes the tables of a block, whose bits may become fewer. The lengths of distances follow those of literals. Returns false if
/// zlib refuses the codes.
bool halcyon_inflate_make_tables(halcyon_inflate_tables *tables, const uint8_t *lengths, unsigned literals,
                                 unsigned distances);

#endif
