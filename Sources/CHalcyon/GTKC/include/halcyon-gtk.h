/* Web images for GTK 4 programs in C and in languages that call C.
 *
 * A view is a GtkWidget. It downloads the image of a URL, keeps it in memory and on disk, decodes it at the size at which it is
 * shown, and plays animations. All functions belong to the thread of GTK's main loop, which has to be the thread that loaded
 * this library, as a program's first thread does. A call from another thread, and a wrong argument, are logged as a critical of
 * the domain "Halcyon", and then have no effect.
 */
#ifndef HALCYON_GTK_LIBRARY_H
#define HALCYON_GTK_LIBRARY_H

#if defined(__has_include)
#if !__has_include(<gtk/gtk.h>)
#error halcyon-gtk needs GTK 4, libgtk-4-dev in Debian, and as a package of Swift the trait GTK
#endif
#endif
#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * HalcyonContentFit:
 * @HALCYON_CONTENT_FIT_CONTAIN: scaled to the largest size at which all of the image is visible; the default
 * @HALCYON_CONTENT_FIT_COVER: scaled to cover the view; the parts beyond its edges are cut off
 * @HALCYON_CONTENT_FIT_FILL: stretched to the view
 * @HALCYON_CONTENT_FIT_SCALE_DOWN: like %HALCYON_CONTENT_FIT_CONTAIN, but never enlarged
 *
 * The way in which an image fills its view.
 */
typedef enum {
    HALCYON_CONTENT_FIT_CONTAIN,
    HALCYON_CONTENT_FIT_COVER,
    HALCYON_CONTENT_FIT_FILL,
    HALCYON_CONTENT_FIT_SCALE_DOWN,
} HalcyonContentFit;

/**
 * HALCYON_ERROR:
 *
 * The domain of the errors of this library.
 */
#define HALCYON_ERROR (halcyon_error_quark())

/**
 * HalcyonError:
 * @HALCYON_ERROR_IMAGE: a file cannot be read, or is not an image
 * @HALCYON_ERROR_PATH: a path is empty, or is not UTF-8
 *
 * The codes of the errors of this library.
 */
typedef enum {
    HALCYON_ERROR_IMAGE,
    HALCYON_ERROR_PATH,
} HalcyonError;

GQuark halcyon_error_quark(void);

/**
 * HalcyonLoadCallback:
 * @view: the view
 * @width: the width in pixels of the image that is shown; 0 for a failure
 * @height: the height in pixels of the image that is shown; 0 for a failure
 * @error: (nullable): the reason for a failure, in English, without the query of the URL; %NULL for an image. Valid during the
 *   call.
 * @user_data: the data that was set with the callback
 *
 * Called at the end of a load, once the image or the image for failures is on the view. It may call any function of this
 * library, and may destroy the view.
 */
typedef void (*HalcyonLoadCallback)(
    GtkWidget *view, int width, int height, const char *error, gpointer user_data);

/**
 * halcyon_version:
 *
 * Returns the version of the library. Any thread may call it.
 *
 * Returns: (transfer none): `major.minor.patch`
 */
const char *halcyon_version(void);

/**
 * halcyon_configure_cache:
 * @folder: (nullable) (type filename): the folder of the cache on disk, which is made when it is needed; %NULL is a folder of
 *   the program in the user's cache folder
 * @memory_limit: the limit in bytes of the images in memory; 0 is a quarter of the memory of the system, at most 1 GiB
 * @disk_limit: the limit in bytes of the files on disk; 0 is a tenth of the free disk, at most 1 GiB
 * @error: return location of an error, of %HALCYON_ERROR_PATH
 *
 * Sets the caches of all loads that begin afterwards. Without a call, there are those that the zeros stand for. To be called
 * once, before the first view gets a URL: loads that have begun stay with the former caches.
 *
 * Returns: whether the caches were set
 */
gboolean halcyon_configure_cache(const char *folder, guint64 memory_limit, guint64 disk_limit, GError **error);

/**
 * halcyon_follow_application:
 * @application: an application that does not run yet
 *
 * Has the application write what is to be kept on disk at its end, for two seconds at most, give memory back when the system
 * runs short of it, and try failed loads again when the network returns. To be called once, after halcyon_configure_cache().
 */
void halcyon_follow_application(GApplication *application);

/**
 * halcyon_image_view_new:
 * @url: (nullable): the URL of the image, or %NULL
 *
 * Creates a view, to be called after gtk_init(), which a GtkApplication does. Like any new widget, it has a floating reference,
 * which its first parent takes; the view ends with its widget, and with it the load.
 *
 * Returns: (transfer floating) (nullable): the widget; %NULL if GTK has not been initialized, and on any other thread than that
 *   of GTK's main loop
 */
GtkWidget *halcyon_image_view_new(const char *url);

/**
 * halcyon_image_view_adopt:
 * @widget: a GtkPicture, a GtkImage or a GtkButton
 *
 * Makes a view of a widget that the program has, for example from a .ui file: the other functions take it from then on. A
 * GtkPicture fits the image itself. A button gets the view as its child. A second call has no effect.
 *
 * Returns: whether the widget is a view now; %FALSE for any other kind of widget
 */
gboolean halcyon_image_view_adopt(GtkWidget *widget);

/**
 * halcyon_is_image_view:
 * @widget: (nullable): a widget
 *
 * Returns: whether the widget is a view of this library, and has not been destroyed
 */
gboolean halcyon_is_image_view(GtkWidget *widget);

/**
 * halcyon_image_view_set_url:
 * @view: a view
 * @url: (nullable): a URL of http, https, file or data; %NULL shows the placeholder, or nothing
 *
 * Loads the image of a URL and shows it, in place of the image that was loading or shown. The load waits until the view has a
 * size. An image in memory is shown before the function returns. A text that is not a URL, or not UTF-8, is a load that fails.
 */
void halcyon_image_view_set_url(GtkWidget *view, const char *url);

/**
 * halcyon_image_view_set_placeholder_file:
 * @view: a view
 * @path: (nullable) (type filename): the path of an image; %NULL is none
 * @error: return location of an error
 *
 * Sets the image that is shown until that of the URL is there, and without a URL. The file is read and decoded at once.
 *
 * Returns: whether the image was set; the former one stays if it was not
 */
gboolean halcyon_image_view_set_placeholder_file(GtkWidget *view, const char *path, GError **error);

/**
 * halcyon_image_view_set_error_file:
 * @view: a view
 * @path: (nullable) (type filename): the path of an image; %NULL is the placeholder
 * @error: return location of an error
 *
 * Sets the image that is shown if a load fails, of the load under way and of later ones. The file is read and decoded at once.
 *
 * Returns: whether the image was set; the former one stays if it was not
 */
gboolean halcyon_image_view_set_error_file(GtkWidget *view, const char *path, GError **error);

/**
 * halcyon_image_view_set_content_fit:
 * @view: a view
 * @fit: the way in which the image fills the view
 *
 * Has no effect on a GtkPicture that was adopted: its own property decides.
 */
void halcyon_image_view_set_content_fit(GtkWidget *view, HalcyonContentFit fit);

/**
 * halcyon_image_view_set_load_callback:
 * @view: a view
 * @callback: (nullable) (scope notified): called at the end of each load; %NULL is none
 * @user_data: (closure): the data of the callback
 * @destroy: (nullable) (destroy user_data): called with the data once the callback is replaced or the widget has ended
 *
 * Sets the function that is called when an image is shown or a load has failed, instead of the former one. It is not called for
 * a load that was cancelled or replaced by another. For an image in memory it is called within halcyon_image_view_set_url(). If
 * @view is not a view, @destroy is called at once.
 */
void halcyon_image_view_set_load_callback(
    GtkWidget *view, HalcyonLoadCallback callback, gpointer user_data, GDestroyNotify destroy);

/**
 * halcyon_image_view_reload:
 * @view: a view
 *
 * Loads the image again from the server; the present one stays meanwhile, and if that fails. Without a URL, it has no effect.
 */
void halcyon_image_view_reload(GtkWidget *view);

/**
 * halcyon_image_view_cancel:
 * @view: a view
 *
 * Cancels the load that is under way; the image that is shown stays.
 */
void halcyon_image_view_cancel(GtkWidget *view);

G_END_DECLS

#endif
