// The filters of PNG, which predict a byte of a row from those to the left and above.
#ifndef HALCYON_PNG_FILTERS_H
#define HALCYON_PNG_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The bytes before and behind a row that the filters may read and write.
enum { HALCYON_PNG_ROW_MARGIN = 16 };

/// Reverses the filter of a row. Returns false if there is no such filter.
///
/// - Parameters:
///   - filtered: the kind of the filter, then `count` bytes and the margin.
///   - above: the row above, zeros for the first one.
///   - pixel_bytes: the bytes of a pixel, 1 to 4.
bool halcyon_png_unfilter(const uint8_t *filtered, const uint8_t *above, uint8_t *row, size_t count, int pixel_bytes);

#endif
