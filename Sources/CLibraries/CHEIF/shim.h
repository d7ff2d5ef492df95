#include <libheif/heif.h>
#include <libheif/heif_plugin.h>
