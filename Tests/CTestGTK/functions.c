// The header alone first: it needs nothing before it.
#include "halcyon-gtk.h"

#include "functions.h"
#include "test_gtk.h"

int test_gtk_functions_in_c(void) { return count_functions(); }
