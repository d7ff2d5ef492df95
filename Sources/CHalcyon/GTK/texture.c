#include "halcyon_gtk.h"

// The pixels of a texture that was made here, and whether all of them are opaque.
static G_DEFINE_QUARK(halcyon-pixels, pixels)
static G_DEFINE_QUARK(halcyon-opaque, opaque)

GdkTexture *halcyon_texture_new(
    const void *pixels, int width, int height, gboolean is_opaque, void *owner, void (*release)(void *owner)) {
    gsize stride = (gsize)width * 4;
    GBytes *bytes = g_bytes_new_with_free_func(pixels, stride * (gsize)height, release, owner);
    GdkTexture *texture = gdk_memory_texture_new(width, height, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes, stride);
    g_bytes_unref(bytes);
    g_object_set_qdata(G_OBJECT(texture), pixels_quark(), (gpointer)pixels);
    g_object_set_qdata(G_OBJECT(texture), opaque_quark(), GINT_TO_POINTER(is_opaque));
    return texture;
}

// MARK: Cairo

// A pattern holds a reference of the texture, and lends its pixels to Cairo while that draws.

static cairo_surface_t *lend(
    cairo_pattern_t *pattern, void *texture, cairo_surface_t *target, const cairo_rectangle_int_t *extents) {
    (void)pattern, (void)target, (void)extents;
    int width = gdk_texture_get_width(texture);
    return cairo_image_surface_create_for_data(
        g_object_get_qdata(texture, pixels_quark()),
        g_object_get_qdata(texture, opaque_quark()) ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32, width,
        gdk_texture_get_height(texture), width * 4);
}

static void take_back(cairo_pattern_t *pattern, void *texture, cairo_surface_t *surface) {
    (void)pattern, (void)texture;
    cairo_surface_destroy(surface);
}

static cairo_status_t copied(cairo_pattern_t *pattern, void *texture, const cairo_pattern_t *other) {
    (void)pattern, (void)other;
    g_object_ref(texture);
    return CAIRO_STATUS_SUCCESS;
}

static void finished(cairo_pattern_t *pattern, void *texture) {
    (void)pattern;
    g_object_unref(texture);
}

static cairo_pattern_t *pattern_new(GdkTexture *texture) {
    gboolean is_opaque = g_object_get_qdata(G_OBJECT(texture), opaque_quark()) != NULL;
    cairo_pattern_t *pattern = cairo_pattern_create_raster_source(
        g_object_ref(texture), is_opaque ? CAIRO_CONTENT_COLOR : CAIRO_CONTENT_COLOR_ALPHA,
        gdk_texture_get_width(texture), gdk_texture_get_height(texture));
    cairo_raster_source_pattern_set_acquire(pattern, lend, take_back);
    cairo_raster_source_pattern_set_copy(pattern, copied);
    cairo_raster_source_pattern_set_finish(pattern, finished);
    // The edge pixels are not mixed with the surroundings.
    cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD);
    return pattern;
}

static gboolean is_drawn_by_cairo(GtkWidget *widget) {
    GtkNative *native = widget ? gtk_widget_get_native(widget) : NULL;
    GskRenderer *renderer = native ? gtk_native_get_renderer(native) : NULL;
    return renderer && G_TYPE_CHECK_INSTANCE_TYPE(renderer, GSK_TYPE_CAIRO_RENDERER);
}

void halcyon_texture_draw(GdkTexture *texture, GtkSnapshot *snapshot, const graphene_rect_t *place, GtkWidget *widget) {
    if (!is_drawn_by_cairo(widget) || !g_object_get_qdata(G_OBJECT(texture), pixels_quark())) {
        gtk_snapshot_append_texture(snapshot, texture, place);
        return;
    }
    cairo_t *cairo = gtk_snapshot_append_cairo(snapshot, place);
    cairo_pattern_t *pattern = pattern_new(texture);
    cairo_matrix_t matrix;
    cairo_matrix_init_scale(
        &matrix, gdk_texture_get_width(texture) / place->size.width,
        gdk_texture_get_height(texture) / place->size.height);
    cairo_matrix_translate(&matrix, -place->origin.x, -place->origin.y);
    cairo_pattern_set_matrix(pattern, &matrix);
    cairo_set_source(cairo, pattern);
    cairo_rectangle(cairo, place->origin.x, place->origin.y, place->size.width, place->size.height);
    cairo_fill(cairo);
    cairo_pattern_destroy(pattern);
    cairo_destroy(cairo);
}
