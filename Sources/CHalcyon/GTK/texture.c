#include "halcyon_gtk.h"

GdkTexture *halcyon_texture_new(
    const void *pixels, int width, int height, void *owner, void (*release)(void *owner)) {
    gsize stride = (gsize)width * 4;
    GBytes *bytes = g_bytes_new_with_free_func(pixels, stride * (gsize)height, release, owner);
    GdkTexture *texture = gdk_memory_texture_new(width, height, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes, stride);
    g_bytes_unref(bytes);
    return texture;
}
