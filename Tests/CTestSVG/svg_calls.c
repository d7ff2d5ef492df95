// librsvg's own header, then our declarations: a function of another type does not compile.
#include <librsvg/rsvg.h>

#include "../../Sources/CHalcyon/SVG/librsvg_calls.h"
#include "test_svg.h"

// The types, by their layout.
_Static_assert(RSVG_UNIT_PERCENT == 0 && RSVG_UNIT_PX == 1 && RSVG_UNIT_EM == 2 && RSVG_UNIT_EX == 3 &&
                   RSVG_UNIT_IN == 4 && RSVG_UNIT_CM == 5 && RSVG_UNIT_MM == 6 && RSVG_UNIT_PT == 7 &&
                   RSVG_UNIT_PC == 8,
               "units");
_Static_assert(offsetof(GError, code) == 4 && offsetof(GError, message) == 8, "errors");
_Static_assert(offsetof(RsvgLength, unit) == 8 && sizeof(((RsvgLength *)0)->unit) == 4 && sizeof(RsvgLength) == 16,
               "lengths");
_Static_assert(offsetof(RsvgRectangle, x) == 0 && offsetof(RsvgRectangle, y) == 8 &&
                   offsetof(RsvgRectangle, width) == 16 && offsetof(RsvgRectangle, height) == 24 &&
                   sizeof(RsvgRectangle) == 32,
               "rectangles");
_Static_assert(sizeof(gboolean) == sizeof(int) && sizeof(gpointer) == sizeof(void *), "GLib's types");

int test_svg_unit_count(void) { return RSVG_UNIT_PC + 1; }
