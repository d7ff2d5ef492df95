// A target of C needs a source file.
#include "xml2.h"
