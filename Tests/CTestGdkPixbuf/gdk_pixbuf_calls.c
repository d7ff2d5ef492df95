// gdk-pixbuf's own header, and our declarations: a member that lies elsewhere does not compile.
#define GDK_PIXBUF_ENABLE_BACKEND
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <stddef.h>

#include "../../Sources/CHalcyon/GdkPixbuf/gdk_pixbuf_calls.h"
#include "test_gdk_pixbuf.h"

#define SAME_PLACE(member) \
    _Static_assert(offsetof(GdkPixbufModule, member) == offsetof(loader_functions, member), #member)

SAME_PLACE(info);
SAME_PLACE(load);
SAME_PLACE(load_xpm_data);
SAME_PLACE(begin_load);
SAME_PLACE(stop_load);
SAME_PLACE(load_increment);
_Static_assert(sizeof(GdkPixbufModule) == sizeof(loader_functions), "GdkPixbufModule");
_Static_assert(offsetof(GError, code) == offsetof(glib_error, code), "errors");
_Static_assert(offsetof(GError, message) == offsetof(glib_error, message), "messages");
_Static_assert(sizeof(gboolean) == sizeof(int) && sizeof(gpointer) == sizeof(void *), "GLib's types");
_Static_assert(sizeof(GLogLevelFlags) == sizeof(int) && sizeof(GLogWriterOutput) == sizeof(int), "log levels");
_Static_assert(G_LOG_WRITER_HANDLED == 1, "what a writer of logs returns");

// The functions: one of another type does not compile.
int (*const test_numbers[])(const GdkPixbuf *) = {
    gdk_pixbuf_get_width, gdk_pixbuf_get_height, gdk_pixbuf_get_n_channels, gdk_pixbuf_get_bits_per_sample,
    gdk_pixbuf_get_rowstride,
};
const guint8 *(*const test_pixels)(const GdkPixbuf *) = gdk_pixbuf_read_pixels;
void (*const test_free)(GError *) = g_error_free;
void (*const test_drop)(gpointer) = g_object_unref;
void (*const test_log)(GLogWriterFunc, gpointer, GDestroyNotify) = g_log_set_writer_func;

int test_gdk_pixbuf_version(void) { return GDK_PIXBUF_MAJOR; }
