#include <libxml/xmlversion.h>
// Debian's converts with ICU and includes its headers, which differ from those that Foundation brings. Nothing of ours
// touches a converter.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
