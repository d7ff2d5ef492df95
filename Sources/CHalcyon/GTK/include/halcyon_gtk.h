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

// What a widget does to its content.
typedef enum {
    HALCYON_LOOK_PLAIN = 0,
    // Painted in the widget's colour, by its alpha.
    HALCYON_LOOK_TEMPLATE = 1,
    // Mirrored where text runs from right to left.
    HALCYON_LOOK_MIRRORED = 2,
} HalcyonLook;

// A paintable that fits its content into whatever it is given, and draws the way from one content to the next.
G_DECLARE_FINAL_TYPE(HalcyonPaintable, halcyon_paintable, HALCYON, PAINTABLE, GObject)

HalcyonPaintable *halcyon_paintable_new(void);

// Shows `content`, which may be NULL, and ends any transition. `scale`: pixels of it for one unit of a view.
void halcyon_paintable_show(HalcyonPaintable *self, GdkTexture *content, double scale, HalcyonLook look);

// Shows `content` in the place of what is shown, which is seen less and less until the progress is 1.
void halcyon_paintable_begin(
    HalcyonPaintable *self, GdkTexture *content, double scale, HalcyonLook look, HalcyonStyle style,
    HalcyonEdge edge);

// A part of what is shown with more pixels, until something else is shown; NULL is none.
//
// `place` is in shares of the whole, from 0 to 1.
void halcyon_paintable_set_detail(HalcyonPaintable *self, GdkTexture *detail, graphene_rect_t place);

// 0 to 1; at 1 the former content is let go.
void halcyon_paintable_set_progress(HalcyonPaintable *self, double progress);

void halcyon_paintable_set_fit(HalcyonPaintable *self, HalcyonFit fit);

// The natural size in units while there is no content; 0 is none.
void halcyon_paintable_set_hint(HalcyonPaintable *self, int width, int height);

// The natural size in units of its content, or of what is beneath; 0 where there is neither.
void halcyon_paintable_get_picture_size(HalcyonPaintable *self, int *width, int *height);

// What is drawn beneath it, in its own way; may be NULL. It gives the natural size where there is no other.
void halcyon_paintable_set_ground(HalcyonPaintable *self, GdkPaintable *ground);

// Whose colour and direction of text count; kept weakly. Without one templates are drawn as they are.
void halcyon_paintable_set_widget(HalcyonPaintable *self, GtkWidget *widget);

// `drawn(data)` is called when it is drawn in another size than before, in the middle of that: it must change nothing there
// and then. `forget(data)` when it is replaced, or at the end.
void halcyon_paintable_on_drawn(
    HalcyonPaintable *self, void (*drawn)(void *data), void *data, void (*forget)(void *data));

// A widget that shows a paintable over all of its area, may be made as small as nothing, and says when its size has changed.
G_DECLARE_FINAL_TYPE(HalcyonArea, halcyon_area, HALCYON, AREA, GtkWidget)

// `resized(data)` is called within GTK's layout: it must change nothing there and then.
GtkWidget *halcyon_area_new(void (*resized)(void *data), void *data, void (*forget)(void *data));

// Which of its sides are as long as its picture wants them, as far as layouts have told.
void halcyon_area_get_free(HalcyonArea *self, gboolean *width, gboolean *height);

// Whether its picture only stands in for another size of the same: then a first layout says nothing of its sides.
void halcyon_area_set_stands_in(HalcyonArea *self, gboolean stands_in);

// May be NULL.
void halcyon_area_set_paintable(HalcyonArea *self, GdkPaintable *paintable);

// A texture of premultiplied BGRA, `width * 4` bytes a row, which stay where they are until `release(owner)`. Any thread.
GdkTexture *halcyon_texture_new(
    const void *pixels, int width, int height, gboolean is_opaque, void *owner, void (*release)(void *owner));

// Draws a texture over all of a place.
//
// Where the window of `widget`, which may be NULL, is drawn by Cairo, it reads the texture's own pixels: GTK would have a copy
// made of them for each frame, which GTK 4.8 makes by way of floating-point numbers, in 15 ns a pixel.
void halcyon_texture_draw(GdkTexture *texture, GtkSnapshot *snapshot, const graphene_rect_t *place, GtkWidget *widget);

// Tells what a pointer and fingers do on a widget, in units of it: `zoom` by so many times around a place, by the wheel with Ctrl
// and by a pinch; `pan` by so much since the last, by dragging; `toggle` at a place, by a double click. Once for a widget;
// `forget(data)` at its end. What `is_wanted` says no to is left to others.
void halcyon_zoom_gestures(
    GtkWidget *widget, gboolean (*is_wanted)(void *data), void (*zoom)(void *data, double factor, double x, double y),
    void (*pan)(void *data, double x, double y), void (*toggle)(void *data, double x, double y), void *data,
    void (*forget)(void *data));

// What needs C's variable arguments: whether a screen reader says that the widget is busy, and the desktop's setting.
void halcyon_set_busy(GtkWidget *widget, gboolean is_busy);
// NULL is none.
void halcyon_set_label(GtkWidget *widget, const char *label);
gboolean halcyon_animations_enabled(GtkWidget *widget);

// Which of the widgets that show an image it is, or derives from.
typedef enum {
    HALCYON_WIDGET_OTHER,
    HALCYON_WIDGET_PICTURE,
    HALCYON_WIDGET_IMAGE,
    HALCYON_WIDGET_BUTTON,
} HalcyonWidgetKind;

HalcyonWidgetKind halcyon_widget_kind(GtkWidget *widget);

// A list's "model" property, and the adjustment that it scrolls by; NULL where it has none. The caller's references.
GListModel *halcyon_list_model(GtkWidget *list);
GtkAdjustment *halcyon_list_adjustment(GtkWidget *list);

// Runs libdispatch's main queue, and with it Swift's main actor, on GLib's default main context; a second call does
// nothing.
void halcyon_main_queue_attach(void);

#endif
