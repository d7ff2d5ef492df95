#ifndef TEST_SVG_H
#define TEST_SVG_H

/// Returns the number of units of length that this librsvg has.
int test_svg_unit_count(void);

#endif
