// The interface between gdk-pixbuf and its loaders, and the calls that read what a loader has made, declared here: neither the
// library nor its headers are needed to build. A test compares these lines with gdk-pixbuf's own header.
#ifndef HALCYON_GDK_PIXBUF_CALLS_H
#define HALCYON_GDK_PIXBUF_CALLS_H

#include <stdint.h>
#include <stdio.h>

/// GLib's GError.
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} glib_error;

/// A GdkPixbuf.
typedef struct loaded_pixbuf loaded_pixbuf;

typedef void (*loader_size_function)(int *width, int *height, void *user);
typedef void (*loader_prepared_function)(loaded_pixbuf *pixbuf, void *animation, void *user);
typedef void (*loader_updated_function)(loaded_pixbuf *pixbuf, int x, int y, int width, int height, void *user);

/// GdkPixbufModule, which a loader fills with its functions.
typedef struct {
    char *module_name, *module_path;
    void *module, *info;
    loaded_pixbuf *(*load)(FILE *file, glib_error **error);
    loaded_pixbuf *(*load_xpm_data)(const char **data);
    void *(*begin_load)(loader_size_function size, loader_prepared_function prepared, loader_updated_function updated,
                        void *user, glib_error **error);
    int (*stop_load)(void *context, glib_error **error);
    int (*load_increment)(void *context, const unsigned char *bytes, unsigned size, glib_error **error);
    /// The functions for animations and for writing, which are not called, and what is reserved.
    void *others[8];
} loader_functions;

/// The functions of libgdk_pixbuf, GObject and GLib that are called, in the order of their names in `gdk_pixbuf_names`.
typedef struct {
    int (*width)(const loaded_pixbuf *), (*height)(const loaded_pixbuf *);
    int (*channels)(const loaded_pixbuf *), (*bits)(const loaded_pixbuf *), (*row_bytes)(const loaded_pixbuf *);
    const uint8_t *(*pixels)(const loaded_pixbuf *);
    void *(*keep)(void *object);
    void (*drop)(void *object);
    void (*free_error)(glib_error *error);
    void (*set_log)(int (*writer)(int level, const void *fields, size_t count, void *user), void *user,
                    void (*destroy)(void *));
} gdk_pixbuf_functions;

#endif
