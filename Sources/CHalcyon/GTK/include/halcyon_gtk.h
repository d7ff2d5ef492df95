// The part of the GTK integration that must be C: GObject classes, and the link of GLib's and libdispatch's main
// loops.
#ifndef HALCYON_GTK_H
#define HALCYON_GTK_H

#if !__has_include(<gtk/gtk.h>)
#error HalcyonGTK needs the package trait GTK, .package(..., traits: ["GTK"]), and GTK 4, libgtk-4-dev in Debian
#endif
#include <gtk/gtk.h>

// The way in which an image fills a view.
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

// The changes that a widget makes to its content.
typedef enum {
    HALCYON_LOOK_PLAIN = 0,
    // Drawn in the widget's colour, by its alpha.
    HALCYON_LOOK_TEMPLATE = 1,
    // Mirrored where text runs from right to left.
    HALCYON_LOOK_MIRRORED = 2,
} HalcyonLook;

// A paintable that fits its content into any size, and draws the transition from one content to the next.
G_DECLARE_FINAL_TYPE(HalcyonPaintable, halcyon_paintable, HALCYON, PAINTABLE, GObject)

HalcyonPaintable *halcyon_paintable_new(void);

// Shows `content`, which may be NULL, and ends any transition. `scale` is the number of its pixels for one unit of a
// view.
void halcyon_paintable_show(HalcyonPaintable *self, GdkTexture *content, double scale, HalcyonLook look);

// Starts a transition to `content`; the former content fades or moves away until the progress is 1.
void halcyon_paintable_begin(
    HalcyonPaintable *self, GdkTexture *content, double scale, HalcyonLook look, HalcyonStyle style,
    HalcyonEdge edge);

// Sets a part of the shown content with a higher resolution, until other content is shown; NULL is none.
//
// `place` is in fractions of the whole, from 0 to 1.
void halcyon_paintable_set_detail(HalcyonPaintable *self, GdkTexture *detail, graphene_rect_t place);

// Sets the progress of a transition, 0 to 1; at 1 the former content is released.
void halcyon_paintable_set_progress(HalcyonPaintable *self, double progress);

void halcyon_paintable_set_fit(HalcyonPaintable *self, HalcyonFit fit);

// Sets the natural size in units without content; 0 is none.
void halcyon_paintable_set_hint(HalcyonPaintable *self, int width, int height);

// Returns the natural size in units of the content, or of the paintable beneath; 0 if there is neither.
void halcyon_paintable_get_picture_size(HalcyonPaintable *self, int *width, int *height);

// Sets a paintable that is drawn beneath, in its own way; may be NULL. It gives the natural size if there is no
// other.
void halcyon_paintable_set_ground(HalcyonPaintable *self, GdkPaintable *ground);

// Sets the widget whose colour and text direction apply; kept weakly. Without one, templates are drawn unchanged.
void halcyon_paintable_set_widget(HalcyonPaintable *self, GtkWidget *widget);

// Calls `drawn(data)` when it is drawn in another size than before, during the drawing: it must not change anything
// synchronously. Calls `forget(data)` when the callback is replaced, or at the end.
void halcyon_paintable_on_drawn(
    HalcyonPaintable *self, void (*drawn)(void *data), void *data, void (*forget)(void *data));

// A widget that shows a paintable over its whole area, may shrink to nothing, and reports changes of its size.
G_DECLARE_FINAL_TYPE(HalcyonArea, halcyon_area, HALCYON, AREA, GtkWidget)

// Creates an area. `resized(data)` is called within GTK's layout: it must not change anything synchronously.
GtkWidget *halcyon_area_new(void (*resized)(void *data), void *data, void (*forget)(void *data));

// Returns which of its sides follow its picture's length, as far as layouts have shown.
void halcyon_area_get_free(HalcyonArea *self, gboolean *width, gboolean *height);

// Sets whether its picture is a placeholder for another size of the same image: a first layout then does not
// determine its sides.
void halcyon_area_set_stands_in(HalcyonArea *self, gboolean stands_in);

// Sets the paintable; may be NULL.
void halcyon_area_set_paintable(HalcyonArea *self, GdkPaintable *paintable);

// Creates a texture of premultiplied BGRA, `width * 4` bytes a row, which must stay in place until `release(owner)`.
// Any thread.
GdkTexture *halcyon_texture_new(
    const void *pixels, int width, int height, gboolean is_opaque, void *owner, void (*release)(void *owner));

// Draws a texture over all of a place.
//
// If Cairo draws the window of `widget`, which may be NULL, it reads the texture's own pixels: GTK would make a copy
// of them for each frame, which GTK 4.8 converts by way of floating-point numbers, at 15 ns a pixel.
void halcyon_texture_draw(GdkTexture *texture, GtkSnapshot *snapshot, const graphene_rect_t *place, GtkWidget *widget);

// Reports gestures of a pointer and fingers on a widget, in its units: `zoom` by a factor around a place, by the
// wheel with Ctrl and by a pinch; `pan` by the distance since the last call, by dragging; `toggle` at a place, by a
// double click. To be called once for a widget; `forget(data)` is called at its end. Gestures that `is_wanted`
// rejects are left to other widgets.
void halcyon_zoom_gestures(
    GtkWidget *widget, gboolean (*is_wanted)(void *data), void (*zoom)(void *data, double factor, double x, double y),
    void (*pan)(void *data, double x, double y), void (*toggle)(void *data, double x, double y), void *data,
    void (*forget)(void *data));

// Wrappers of functions with variable arguments: the busy state for screen readers, and the desktop's setting for
// animations.
void halcyon_set_busy(GtkWidget *widget, gboolean is_busy);
// Sets the accessible label; NULL is none.
void halcyon_set_label(GtkWidget *widget, const char *label);
gboolean halcyon_animations_enabled(GtkWidget *widget);

// The kind of a widget that shows an image, or that it derives from.
typedef enum {
    HALCYON_WIDGET_OTHER,
    HALCYON_WIDGET_PICTURE,
    HALCYON_WIDGET_IMAGE,
    HALCYON_WIDGET_BUTTON,
} HalcyonWidgetKind;

HalcyonWidgetKind halcyon_widget_kind(GtkWidget *widget);

// Returns a list's "model" property, and the adjustment that it scrolls by; NULL if it has none. The caller owns the
// references.
GListModel *halcyon_list_model(GtkWidget *list);
GtkAdjustment *halcyon_list_adjustment(GtkWidget *list);

// Runs libdispatch's main queue, and with it Swift's main actor, on GLib's default main context; a second call has no
// effect.
void halcyon_main_queue_attach(void);

#endif
