// Shows the image of a URL in a window: ./show-image https://example.org/photo.jpg
#include <halcyon-gtk.h>

static void loaded(GtkWidget *view, int width, int height, const char *error, gpointer window) {
    (void)view;
    char *title = error ? g_strdup(error) : g_strdup_printf("%d x %d", width, height);
    g_print("%s\n", title);
    gtk_window_set_title(GTK_WINDOW(window), title);
    g_free(title);
}

static void activate(GApplication *application, gpointer url) {
    GtkWidget *window = gtk_application_window_new(GTK_APPLICATION(application));
    gtk_window_set_default_size(GTK_WINDOW(window), 640, 480);
    GtkWidget *view = halcyon_image_view_new(url);
    halcyon_image_view_set_content_fit(view, HALCYON_CONTENT_FIT_SCALE_DOWN);
    halcyon_image_view_set_load_callback(view, loaded, window, NULL);
    gtk_window_set_child(GTK_WINDOW(window), view);
    gtk_window_present(GTK_WINDOW(window));
}

int main(int count, char **arguments) {
    if (count != 2) {
        g_printerr("usage: %s URL\nHalcyon %s\n", arguments[0], halcyon_version());
        return 64;
    }
    GtkApplication *application = gtk_application_new("org.example.ShowImage", G_APPLICATION_NON_UNIQUE);
    // 64 MiB of memory and 256 MiB of disk, which are written to the end when the last window closes.
    halcyon_configure_cache(NULL, 64 << 20, 256 << 20, NULL);
    halcyon_follow_application(G_APPLICATION(application));
    g_signal_connect(application, "activate", G_CALLBACK(activate), arguments[1]);
    int status = g_application_run(G_APPLICATION(application), 1, arguments);
    g_object_unref(application);
    return status;
}
