#include "halcyon_gtk.h"

typedef struct {
    gboolean (*is_wanted)(void *data);
    void (*zoom)(void *data, double factor, double x, double y);
    void (*pan)(void *data, double x, double y);
    void (*toggle)(void *data, double x, double y);
    void *data;
    void (*forget)(void *data);
    // The position of the pointer, which a scroll event does not contain.
    double x, y;
    // The progress of the current gesture.
    double scale, dragged_x, dragged_y;
} Gestures;

static void gestures_free(gpointer pointer) {
    Gestures *self = pointer;
    self->forget(self->data);
    g_free(self);
}

static void moved(GtkEventControllerMotion *controller, double x, double y, Gestures *self) {
    (void)controller;
    self->x = x;
    self->y = y;
}

static gboolean scrolled(GtkEventController *controller, double x, double y, Gestures *self) {
    (void)x;
    if (!(gtk_event_controller_get_current_event_state(controller) & GDK_CONTROL_MASK)) return FALSE;
    if (!self->is_wanted(self->data)) return FALSE;
    // A touchpad reports pixels, about ten of which equal one step of a wheel.
    GdkScrollUnit unit = gtk_event_controller_scroll_get_unit(GTK_EVENT_CONTROLLER_SCROLL(controller));
    self->zoom(self->data, pow(1.25, unit == GDK_SCROLL_UNIT_SURFACE ? -y / 10 : -y), self->x, self->y);
    return TRUE;
}

static void pinch_began(GtkGesture *gesture, GdkEventSequence *sequence, Gestures *self) {
    (void)sequence;
    self->scale = 1;
    if (self->is_wanted(self->data)) gtk_gesture_set_state(gesture, GTK_EVENT_SEQUENCE_CLAIMED);
}

static void pinched(GtkGesture *gesture, double scale, Gestures *self) {
    double x = self->x, y = self->y;
    if (gtk_gesture_is_active(gesture)) gtk_gesture_get_bounding_box_center(gesture, &x, &y);
    if (scale > 0 && self->scale > 0) self->zoom(self->data, scale / self->scale, x, y);
    self->scale = scale;
}

static void drag_began(GtkGesture *gesture, double x, double y, Gestures *self) {
    (void)x, (void)y;
    GdkDevice *device = gtk_event_controller_get_current_event_device(GTK_EVENT_CONTROLLER(gesture));
    // A touchscreen's finger scrolls already.
    if (!self->is_wanted(self->data) || (device && gdk_device_get_source(device) == GDK_SOURCE_TOUCHSCREEN)) {
        gtk_gesture_set_state(gesture, GTK_EVENT_SEQUENCE_DENIED);
    }
    self->dragged_x = self->dragged_y = 0;
}

static void dragged(GtkGesture *gesture, double x, double y, Gestures *self) {
    GtkWidget *widget = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(gesture));
    // Once the drag is no longer a click, no other widget handles it.
    if (gtk_drag_check_threshold(widget, 0, 0, (int)x, (int)y)) {
        gtk_gesture_set_state(gesture, GTK_EVENT_SEQUENCE_CLAIMED);
    }
    self->pan(self->data, x - self->dragged_x, y - self->dragged_y);
    self->dragged_x = x;
    self->dragged_y = y;
}

static void pressed(GtkGesture *gesture, int count, double x, double y, Gestures *self) {
    (void)gesture;
    if (count == 2) self->toggle(self->data, x, y);
}

void halcyon_zoom_gestures(
    GtkWidget *widget, gboolean (*is_wanted)(void *data), void (*zoom)(void *data, double factor, double x, double y),
    void (*pan)(void *data, double x, double y), void (*toggle)(void *data, double x, double y), void *data,
    void (*forget)(void *data)) {
    Gestures *self = g_new0(Gestures, 1);
    *self = (Gestures){.is_wanted = is_wanted, .zoom = zoom, .pan = pan, .toggle = toggle, .data = data, .forget = forget};
    // The controllers of the widget live no longer than this.
    g_object_set_data_full(G_OBJECT(widget), "halcyon-gestures", self, gestures_free);
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "enter", G_CALLBACK(moved), self);
    g_signal_connect(motion, "motion", G_CALLBACK(moved), self);
    GtkEventController *wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
    // Handled before the widget scrolls.
    gtk_event_controller_set_propagation_phase(wheel, GTK_PHASE_CAPTURE);
    g_signal_connect(wheel, "scroll", G_CALLBACK(scrolled), self);
    GtkGesture *pinch = gtk_gesture_zoom_new();
    g_signal_connect(pinch, "begin", G_CALLBACK(pinch_began), self);
    g_signal_connect(pinch, "scale-changed", G_CALLBACK(pinched), self);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_began), self);
    g_signal_connect(drag, "drag-update", G_CALLBACK(dragged), self);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(pressed), self);
    gtk_widget_add_controller(widget, motion);
    gtk_widget_add_controller(widget, wheel);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(pinch));
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drag));
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(click));
}
