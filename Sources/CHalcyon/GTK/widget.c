#include "halcyon_gtk.h"

void halcyon_set_busy(GtkWidget *widget, gboolean is_busy) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_BUSY, is_busy, -1);
}

void halcyon_set_label(GtkWidget *widget, const char *label) {
    if (label) {
        gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    } else {
        gtk_accessible_reset_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL);
    }
}

gboolean halcyon_animations_enabled(GtkWidget *widget) {
    gboolean is_enabled = TRUE;
    g_object_get(gtk_widget_get_settings(widget), "gtk-enable-animations", &is_enabled, NULL);
    return is_enabled;
}

HalcyonWidgetKind halcyon_widget_kind(GtkWidget *widget) {
    if (GTK_IS_PICTURE(widget)) return HALCYON_WIDGET_PICTURE;
    if (GTK_IS_IMAGE(widget)) return HALCYON_WIDGET_IMAGE;
    if (GTK_IS_BUTTON(widget)) return HALCYON_WIDGET_BUTTON;
    return HALCYON_WIDGET_OTHER;
}
