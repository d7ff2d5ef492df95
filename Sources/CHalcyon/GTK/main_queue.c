#include "halcyon_gtk.h"

#include <glib-unix.h>
#include <unistd.h>

// libdispatch's interface for a foreign main loop, which CoreFoundation uses on Linux.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

static gboolean drain(gint handle, GIOCondition condition, gpointer data) {
    (void)condition;
    (void)data;
    // The counter of a non-blocking eventfd; another reader may have drained the queue already.
    guint64 count;
    ssize_t bytes = read(handle, &count, sizeof count);
    (void)bytes;
    _dispatch_main_queue_callback_4CF(NULL);
    return G_SOURCE_CONTINUE;
}

void halcyon_main_queue_attach(void) {
    static gsize is_attached = 0;
    if (!g_once_init_enter(&is_attached)) return;
    int handle = _dispatch_get_main_queue_handle_4CF();
    // After the user's input, before the next frame is drawn.
    g_unix_fd_add_full(GDK_PRIORITY_REDRAW - 20, handle, G_IO_IN, drain, NULL, NULL);
    g_once_init_leave(&is_attached, 1);
}
