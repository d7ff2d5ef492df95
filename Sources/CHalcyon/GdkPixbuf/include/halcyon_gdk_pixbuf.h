// The loaders of gdk-pixbuf, called as gdk-pixbuf calls them: one loader for one format, which nothing has looked for in the
// bytes. Only for a process that holds no rights.
#ifndef HALCYON_GDK_PIXBUF_H
#define HALCYON_GDK_PIXBUF_H

#include <halcyon_codecs.h>

/// Opens libgdk_pixbuf, for good, and prepares this process for its loaders: nothing is logged, and new memory on the heap
/// holds nothing of an earlier file. Returns the path of the library, or NULL if the system has none.
const char *halcyon_loaders_prepare(void);

/// A loader that is open, for good.
typedef struct halcyon_loader halcyon_loader;

/// Opens the loader at a path, in a process without other threads. NULL if it cannot be opened, has no function that reads a still
/// image, or starts a thread when it is opened, which a worker may not have. It is tried in a copy of the process first.
halcyon_loader *halcyon_loader_open(const char *path);

/// Decodes a file into the bitmap.
///
/// A loader that reads all at once reads from the memory as from a file; another one gets it piece by piece. Other sizes than the
/// bitmap's are damage; before the loader allocates memory for them, if it asks for the size.
halcyon_codec_status halcyon_loader_decode(const halcyon_loader *loader, const uint8_t *data, size_t size, bool has_alpha,
                                           halcyon_codec_bitmap bitmap, halcyon_codec_call *call);

#endif
