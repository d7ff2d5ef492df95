#include <math.h>
#include <string.h>

#include "../Codecs/codecs_internal.h"
#include "halcyon_svg.h"
#include "librsvg_calls.h"

static halcyon_codec_status fail(halcyon_codec_call *call, GError *error) {
    halcyon_set_message(call, error != NULL ? error->message : "librsvg gives no reason");
    // librsvg names Cairo's error in its message alone.
    bool has_memory = error == NULL || strstr(error->message, "NoMemory") == NULL;
    g_clear_error(&error);
    return has_memory ? HALCYON_CODEC_DAMAGED : HALCYON_CODEC_NO_MEMORY;
}

/// Opens a document. Without a base address librsvg follows no reference out of the document, neither to files nor to
/// the network; and without its flag for unlimited documents, libxml2 limits the growth of entities.
halcyon_codec_status halcyon_svg_open(const uint8_t *data, size_t size, bool draws_text,
                                      halcyon_svg_document **document, halcyon_codec_call *call) {
    if (halcyon_is_cancelled(call)) return HALCYON_CODEC_CANCELLED;
    GError *error = NULL;
    RsvgHandle *handle = rsvg_handle_new_from_data(data, size, &error);
    if (handle == NULL) return fail(call, error);
    rsvg_handle_set_dpi(handle, 96);
    // The size of fonts in browsers; that of librsvg is 12 pixels.
#define HALCYON_SVG_STYLE ":root:not([font-size]) { font-size: 16px; }"
    const char *rules = draws_text ? HALCYON_SVG_STYLE : HALCYON_SVG_STYLE "text { display: none !important; }";
    if (!rsvg_handle_set_stylesheet(handle, (const uint8_t *)rules, strlen(rules), &error)) {
        g_object_unref(handle);
        return fail(call, error);
    }
    *document = (halcyon_svg_document *)handle;
    return HALCYON_CODEC_OK;
}

void halcyon_svg_close(halcyon_svg_document *document) {
    g_object_unref(document);
}

/// Returns one side of the root element in pixels. Fonts have their standard size of 16 pixels.
static double absolute(RsvgLength length) {
    switch (length.unit) {
    case RSVG_UNIT_PX: return length.length;
    case RSVG_UNIT_IN: return length.length * 96;
    case RSVG_UNIT_CM: return length.length * 96 / 2.54;
    case RSVG_UNIT_MM: return length.length * 96 / 25.4;
    case RSVG_UNIT_PT: return length.length * 96 / 72;
    case RSVG_UNIT_PC: return length.length * 16;
    case RSVG_UNIT_EM: return length.length * 16;
    case RSVG_UNIT_EX: return length.length * 8;
    default: return 0;
    }
}

/// Returns the size that the document declares, else that of its view box, else the default of browsers: 300 x 150.
static void natural_size(RsvgHandle *handle, double *width, double *height) {
    if (rsvg_handle_get_intrinsic_size_in_pixels(handle, width, height)) return;
    gboolean has_width, has_height, has_box;
    RsvgLength width_length, height_length;
    RsvgRectangle box = {0};
    rsvg_handle_get_intrinsic_dimensions(handle, &has_width, &width_length, &has_height, &height_length, &has_box, &box);
    bool is_width_known = has_width && width_length.unit != RSVG_UNIT_PERCENT;
    bool is_height_known = has_height && height_length.unit != RSVG_UNIT_PERCENT;
    bool has_shape = has_box && box.width > 0 && box.height > 0;
    double usual_width = has_shape ? box.width : 300;
    double usual_height = has_shape ? box.height : 150;
    *width = is_width_known ? absolute(width_length) : usual_width;
    *height = is_height_known ? absolute(height_length) : usual_height;
    if (!has_shape) return;
    if (is_width_known && !is_height_known) *height = *width * box.height / box.width;
    if (is_height_known && !is_width_known) *width = *height * box.width / box.height;
}

void halcyon_svg_size(halcyon_svg_document *document, double *width, double *height) {
    natural_size((RsvgHandle *)document, width, height);
}

static halcyon_codec_status draw(RsvgHandle *handle, cairo_surface_t *surface, halcyon_codec_bitmap bitmap,
                                 halcyon_codec_call *call) {
    double width = 0, height = 0;
    natural_size(handle, &width, &height);
    if (!(width > 0) || !(height > 0) || !isfinite(width) || !isfinite(height)) {
        halcyon_set_message(call, "its size is zero");
        return HALCYON_CODEC_DAMAGED;
    }
    cairo_t *context = cairo_create(surface);
    // Scaled by the context, so that the image is stretched instead of letterboxed. The canvas of a side with a fraction is
    // rounded up, not the drawing.
    cairo_scale(context, bitmap.width / ceil(width), bitmap.height / ceil(height));
    RsvgRectangle viewport = {0, 0, width, height};
    GError *error = NULL;
    halcyon_codec_status status = HALCYON_CODEC_OK;
    if (!rsvg_handle_render_document(handle, context, &viewport, &error)) status = fail(call, error);
    if (status == HALCYON_CODEC_OK && cairo_status(context) != CAIRO_STATUS_SUCCESS) {
        halcyon_set_message(call, cairo_status_to_string(cairo_status(context)));
        bool has_memory = cairo_status(context) != CAIRO_STATUS_NO_MEMORY;
        status = has_memory ? HALCYON_CODEC_DAMAGED : HALCYON_CODEC_NO_MEMORY;
    }
    cairo_destroy(context);
    return status;
}

halcyon_codec_status halcyon_svg_draw(halcyon_svg_document *document, halcyon_codec_bitmap bitmap,
                                      halcyon_codec_call *call) {
    if (halcyon_is_cancelled(call)) return HALCYON_CODEC_CANCELLED;
    memset(bitmap.pixels, 0, (size_t)bitmap.width * (size_t)bitmap.height * 4);
    cairo_surface_t *surface = cairo_image_surface_create_for_data(bitmap.pixels, CAIRO_FORMAT_ARGB32, bitmap.width,
                                                                   bitmap.height, bitmap.width * 4);
    halcyon_codec_status status = HALCYON_CODEC_DAMAGED;
    if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
        status = draw((RsvgHandle *)document, surface, bitmap, call);
        cairo_surface_flush(surface);
    } else {
        halcyon_set_message(call, cairo_status_to_string(cairo_surface_status(surface)));
    }
    cairo_surface_destroy(surface);
    return status;
}
