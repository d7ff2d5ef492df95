#include "halcyon_gtk.h"

struct _HalcyonArea {
    GtkWidget parent;
    GdkPaintable *paintable;
    void (*resized)(void *data);
    void *data;
    void (*forget)(void *data);
    int width, height;
    // The picture's size at the last layout.
    int picture_width, picture_height;
    // Whether a side follows the picture's natural length.
    gboolean free_width, free_height;
    gboolean stands_in;
};

G_DEFINE_FINAL_TYPE(HalcyonArea, halcyon_area, GTK_TYPE_WIDGET)

static void halcyon_area_measure(
    GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
    int *natural_baseline) {
    HalcyonArea *self = HALCYON_AREA(widget);
    // A placeholder does not determine the view's size: before the first layout, the area requests no length for it. A
    // side that gets no length then follows the picture.
    gboolean is_wanted = self->paintable && !(self->stands_in && self->width < 0);
    double ratio = self->paintable ? gdk_paintable_get_intrinsic_aspect_ratio(self->paintable) : 0;
    if (!is_wanted) {
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

// Returns the size request of the widget or of the overlay around it, as a program has set it; 0 or less is none.
static void get_request(GtkWidget *widget, int *width, int *height) {
    int outer_width = 0, outer_height = 0;
    GtkWidget *parent = gtk_widget_get_parent(widget);
    gtk_widget_get_size_request(widget, width, height);
    if (parent) gtk_widget_get_size_request(parent, &outer_width, &outer_height);
    *width = MAX(*width, outer_width);
    *height = MAX(*height, outer_height);
}

// Derives from a layout whether a side follows the picture: without a picture it has no length, with one exactly the
// picture's, and it changes along with it. If the first layout already has a picture, the side is assumed to follow
// it.
static gboolean is_free(gboolean was_free, gboolean is_another, int length, int former, int natural, int request) {
    if (natural <= 0) return length == 0;
    // Temporarily shorter, for lack of space.
    if (was_free && !is_another && length < natural && length != request) return TRUE;
    if (abs(length - natural) > 1 || length == request) return FALSE;
    return was_free || (is_another && length != former);
}

static void learn_sides(HalcyonArea *self, int width, int height) {
    GtkWidget *widget = GTK_WIDGET(self);
    int natural_width = 0, natural_height = 0, picture_width = 0, picture_height = 0, minimum, baseline;
    int request_width, request_height;
    get_request(widget, &request_width, &request_height);
    halcyon_area_measure(widget, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural_width, &baseline, &baseline);
    halcyon_area_measure(widget, GTK_ORIENTATION_VERTICAL, width, &minimum, &natural_height, &baseline, &baseline);
    if (self->paintable && HALCYON_IS_PAINTABLE(self->paintable)) {
        halcyon_paintable_get_picture_size(HALCYON_PAINTABLE(self->paintable), &picture_width, &picture_height);
    }
    gboolean is_first = self->width < 0;
    gboolean has_picture = picture_width > 0 && picture_height > 0;
    if (!has_picture && (natural_width > 0 || natural_height > 0)) {
        // A size hint counts like a requested size: the sides do not follow the picture.
        self->free_width = self->free_height = FALSE;
    } else {
        gboolean follows = abs(width - natural_width) <= 1 && abs(height - natural_height) <= 1;
        gboolean is_assumed = follows && request_width <= 0 && request_height <= 0;
        gboolean is_another = picture_width != self->picture_width || picture_height != self->picture_height;
        if (is_first) self->free_width = self->free_height = is_assumed;
        is_another = is_another && !is_first;
        self->free_width = is_free(
            self->free_width, is_another, width, self->width, natural_width, request_width);
        self->free_height = is_free(
            self->free_height, is_another, height, self->height, natural_height, request_height);
    }
    self->picture_width = picture_width;
    self->picture_height = picture_height;
}

static void halcyon_area_size_allocate(GtkWidget *widget, int width, int height, int baseline) {
    HalcyonArea *self = HALCYON_AREA(widget);
    GTK_WIDGET_CLASS(halcyon_area_parent_class)->size_allocate(widget, width, height, baseline);
    learn_sides(self, width, height);
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
    // The first layout is reported even if it leaves no space.
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

void halcyon_area_get_free(HalcyonArea *self, gboolean *width, gboolean *height) {
    *width = self->free_width;
    *height = self->free_height;
}

void halcyon_area_set_stands_in(HalcyonArea *self, gboolean stands_in) {
    if (self->stands_in == stands_in) return;
    self->stands_in = stands_in;
    gtk_widget_queue_resize(GTK_WIDGET(self));
}
