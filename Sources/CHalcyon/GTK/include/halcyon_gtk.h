// What of GTK must be C: a class of GObject, and GLib's and libdispatch's main loops in one.
#ifndef HALCYON_GTK_H
#define HALCYON_GTK_H

#include <gtk/gtk.h>

// How an image fills a view.
typedef enum {
    HALCYON_FIT_CONTAIN,
    HALCYON_FIT_COVER,
    HALCYON_FIT_FILL,
    HALCYON_FIT_SCALE_DOWN,
} HalcyonFit;

typedef enum {
    HALCYON_STYLE_FADE,
    HALCYON_STYLE_FLIP,
    HALCYON_STYLE_SLIDE,
} HalcyonStyle;

typedef enum {
    HALCYON_EDGE_LEFT,
    HALCYON_EDGE_RIGHT,
    HALCYON_EDGE_TOP,
    HALCYON_EDGE_BOTTOM,
} HalcyonEdge;

// A paintable that fits its content into whatever it is given, and draws the way from one content to the next.
G_DECLARE_FINAL_TYPE(HalcyonPaintable, halcyon_paintable, HALCYON, PAINTABLE, GObject)

HalcyonPaintable *halcyon_paintable_new(void);

// Shows `content`, which may be NULL, and ends any transition. `scale`: pixels of it for one unit of a view.
void halcyon_paintable_show(HalcyonPaintable *self, GdkPaintable *content, double scale);

// Shows `content` in the place of what is shown, which is seen less and less until the progress is 1.
void halcyon_paintable_begin(
    HalcyonPaintable *self, GdkPaintable *content, double scale, HalcyonStyle style, HalcyonEdge edge);

// 0 to 1; at 1 the former content is let go.
void halcyon_paintable_set_progress(HalcyonPaintable *self, double progress);

void halcyon_paintable_set_fit(HalcyonPaintable *self, HalcyonFit fit);

// The natural size in units while there is no content; 0 is none.
void halcyon_paintable_set_hint(HalcyonPaintable *self, int width, int height);

// A widget that shows a paintable over all of its area, may be made as small as nothing, and says when its size has changed.
G_DECLARE_FINAL_TYPE(HalcyonArea, halcyon_area, HALCYON, AREA, GtkWidget)

// `resized(data, width, height)` is called in units, within GTK's layout: it must change nothing there and then.
GtkWidget *halcyon_area_new(
    GdkPaintable *paintable, void (*resized)(void *data, int width, int height), void *data,
    void (*forget)(void *data));

// A texture of premultiplied BGRA, `width * 4` bytes a row, which stay where they are until `release(owner)`. Any thread.
GdkTexture *halcyon_texture_new(
    const void *pixels, int width, int height, void *owner, void (*release)(void *owner));

// What needs C's variable arguments: whether a screen reader says that the widget is busy, and the desktop's setting.
void halcyon_set_busy(GtkWidget *widget, gboolean is_busy);
gboolean halcyon_animations_enabled(GtkWidget *widget);

// Runs libdispatch's main queue, and with it Swift's main actor, on GLib's default main context; a second call does
// nothing.
void halcyon_main_queue_attach(void);

#endif
