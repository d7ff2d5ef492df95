#include "halcyon_gtk.h"

struct _HalcyonArea {
    GtkWidget parent;
    GdkPaintable *paintable;
    void (*resized)(void *data);
    void *data;
    void (*forget)(void *data);
    int width, height;
};

G_DEFINE_FINAL_TYPE(HalcyonArea, halcyon_area, GTK_TYPE_WIDGET)

static void halcyon_area_measure(
    GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
    int *natural_baseline) {
    HalcyonArea *self = HALCYON_AREA(widget);
    double ratio = self->paintable ? gdk_paintable_get_intrinsic_aspect_ratio(self->paintable) : 0;
    if (!self->paintable) {
        *natural = 0;
    } else if (orientation == GTK_ORIENTATION_HORIZONTAL) {
        int width = gdk_paintable_get_intrinsic_width(self->paintable);
        *natural = for_size > 0 && ratio > 0 ? (int)(for_size * ratio + 0.5) : width;
    } else {
        int height = gdk_paintable_get_intrinsic_height(self->paintable);
        *natural = for_size > 0 && ratio > 0 ? (int)(for_size / ratio + 0.5) : height;
    }
    *minimum = 0;
    *minimum_baseline = *natural_baseline = -1;
}

static GtkSizeRequestMode halcyon_area_request_mode(GtkWidget *widget) {
    (void)widget;
    return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void halcyon_area_size_allocate(GtkWidget *widget, int width, int height, int baseline) {
    HalcyonArea *self = HALCYON_AREA(widget);
    GTK_WIDGET_CLASS(halcyon_area_parent_class)->size_allocate(widget, width, height, baseline);
    if (self->width == width && self->height == height) return;
    self->width = width;
    self->height = height;
    if (self->resized) self->resized(self->data);
}

static void halcyon_area_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
    HalcyonArea *self = HALCYON_AREA(widget);
    if (!self->paintable) return;
    gdk_paintable_snapshot(self->paintable, snapshot, gtk_widget_get_width(widget), gtk_widget_get_height(widget));
}

static void halcyon_area_dispose(GObject *object) {
    HalcyonArea *self = HALCYON_AREA(object);
    void (*forget)(void *) = self->forget;
    self->resized = NULL;
    self->forget = NULL;
    if (forget) forget(self->data);
    halcyon_area_set_paintable(self, NULL);
    G_OBJECT_CLASS(halcyon_area_parent_class)->dispose(object);
}

static void halcyon_area_class_init(HalcyonAreaClass *class) {
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = halcyon_area_dispose;
    widget->measure = halcyon_area_measure;
    widget->get_request_mode = halcyon_area_request_mode;
    widget->size_allocate = halcyon_area_size_allocate;
    widget->snapshot = halcyon_area_snapshot;
    gtk_widget_class_set_css_name(widget, "halcyon-image");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
}

static void halcyon_area_init(HalcyonArea *self) {
    // The first layout is told even where it leaves nothing.
    self->width = self->height = -1;
    gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
}

GtkWidget *halcyon_area_new(void (*resized)(void *data), void *data, void (*forget)(void *data)) {
    HalcyonArea *self = g_object_new(halcyon_area_get_type(), NULL);
    self->resized = resized;
    self->data = data;
    self->forget = forget;
    return GTK_WIDGET(self);
}

void halcyon_area_set_paintable(HalcyonArea *self, GdkPaintable *paintable) {
    if (self->paintable == paintable) return;
    if (self->paintable) g_signal_handlers_disconnect_by_data(self->paintable, self);
    g_set_object(&self->paintable, paintable);
    if (paintable) {
        g_signal_connect_swapped(paintable, "invalidate-contents", G_CALLBACK(gtk_widget_queue_draw), self);
        g_signal_connect_swapped(paintable, "invalidate-size", G_CALLBACK(gtk_widget_queue_resize), self);
    }
    gtk_widget_queue_resize(GTK_WIDGET(self));
}
