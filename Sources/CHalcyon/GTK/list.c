#include "halcyon_gtk.h"

GListModel *halcyon_list_model(GtkWidget *list) {
    GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(list), "model");
    if (!property || !g_type_is_a(property->value_type, G_TYPE_LIST_MODEL)) return NULL;
    GListModel *model = NULL;
    g_object_get(list, "model", &model, NULL);
    return model;
}

GtkAdjustment *halcyon_list_adjustment(GtkWidget *list) {
    if (!GTK_IS_SCROLLABLE(list)) return NULL;
    gboolean is_across = GTK_IS_ORIENTABLE(list)
        && gtk_orientable_get_orientation(GTK_ORIENTABLE(list)) == GTK_ORIENTATION_HORIZONTAL;
    GtkAdjustment *adjustment = is_across ? gtk_scrollable_get_hadjustment(GTK_SCROLLABLE(list))
                                          : gtk_scrollable_get_vadjustment(GTK_SCROLLABLE(list));
    return adjustment ? g_object_ref(adjustment) : NULL;
}
