#include "halcyon-gtk.h"

// A macro of GLib's, which Swift does not see. The functions of the header are in the module HalcyonGTKC.
G_DEFINE_QUARK(halcyon-error-quark, halcyon_error)
