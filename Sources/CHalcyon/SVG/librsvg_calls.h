// The part of librsvg, GLib and GObject that draws a document, declared here: the headers of librsvg include those of GLib,
// which only a .pc file finds. A test compiles these lines behind librsvg's own header, so that one that differs is an error.
#ifndef HALCYON_LIBRSVG_CALLS_H
#define HALCYON_LIBRSVG_CALLS_H

#include <cairo/cairo.h>
#include <stddef.h>
#include <stdint.h>

#ifndef RSVG_H
typedef int gboolean;
typedef void *gpointer;
typedef struct _RsvgHandle RsvgHandle;

typedef struct {
    uint32_t domain;
    int code;
    char *message;
} GError;

typedef enum {
    RSVG_UNIT_PERCENT,
    RSVG_UNIT_PX,
    RSVG_UNIT_EM,
    RSVG_UNIT_EX,
    RSVG_UNIT_IN,
    RSVG_UNIT_CM,
    RSVG_UNIT_MM,
    RSVG_UNIT_PT,
    RSVG_UNIT_PC,
} RsvgUnit;

typedef struct {
    double length;
    RsvgUnit unit;
} RsvgLength;

typedef struct {
    double x, y, width, height;
} RsvgRectangle;
#endif

RsvgHandle *rsvg_handle_new_from_data(const uint8_t *data, size_t size, GError **error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
gboolean rsvg_handle_set_stylesheet(RsvgHandle *handle, const uint8_t *css, size_t size, GError **error);
gboolean rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
void rsvg_handle_get_intrinsic_dimensions(RsvgHandle *handle, gboolean *has_width, RsvgLength *width,
                                          gboolean *has_height, RsvgLength *height, gboolean *has_box,
                                          RsvgRectangle *box);
gboolean rsvg_handle_render_document(RsvgHandle *handle, cairo_t *context, const RsvgRectangle *viewport,
                                     GError **error);
void g_object_unref(gpointer object);
void g_clear_error(GError **error);

#endif
