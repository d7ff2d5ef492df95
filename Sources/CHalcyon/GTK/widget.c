#include "halcyon_gtk.h"

void halcyon_set_busy(GtkWidget *widget, gboolean is_busy) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_BUSY, is_busy, -1);
}

gboolean halcyon_animations_enabled(GtkWidget *widget) {
    gboolean is_enabled = TRUE;
    g_object_get(gtk_widget_get_settings(widget), "gtk-enable-animations", &is_enabled, NULL);
    return is_enabled;
}
