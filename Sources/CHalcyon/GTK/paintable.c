#include "halcyon_gtk.h"

typedef struct {
    GdkTexture *content;
    double scale;
    HalcyonLook look;
} Layer;

struct _HalcyonPaintable {
    GObject parent;
    Layer shown;
    // The content that a transition replaces.
    Layer former;
    double progress;
    HalcyonStyle style;
    HalcyonEdge edge;
    HalcyonFit fit;
    int hint_width, hint_height;
    // A part of the shown content with a higher resolution; may be NULL. Its place is in fractions of the whole.
    GdkTexture *detail;
    graphene_rect_t place;
    // A paintable that is drawn beneath; may be NULL.
    GdkPaintable *ground;
    // A weak pointer to the widget whose colour templates have, and whose text direction determines the mirroring.
    GtkWidget *widget;
    void (*drawn)(void *data);
    void *data;
    void (*forget)(void *data);
    double drawn_width, drawn_height;
};

static void halcyon_paintable_interface(GdkPaintableInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE(
    HalcyonPaintable, halcyon_paintable, G_TYPE_OBJECT,
    G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, halcyon_paintable_interface))

// MARK: Sizes

static double layer_width(const Layer *layer) {
    return layer->content ? gdk_texture_get_width(layer->content) / layer->scale : 0;
}

static double layer_height(const Layer *layer) {
    return layer->content ? gdk_texture_get_height(layer->content) / layer->scale : 0;
}

// Returns the size of the image, else the hint, else the size of the ground.
static void natural_size(GdkPaintable *paintable, double *width, double *height) {
    HalcyonPaintable *self = HALCYON_PAINTABLE(paintable);
    *width = self->shown.content ? layer_width(&self->shown) : self->hint_width;
    *height = self->shown.content ? layer_height(&self->shown) : self->hint_height;
    if ((*width > 0 && *height > 0) || !self->ground) return;
    *width = gdk_paintable_get_intrinsic_width(self->ground);
    *height = gdk_paintable_get_intrinsic_height(self->ground);
}

static int natural_width(GdkPaintable *paintable) {
    double width, height;
    natural_size(paintable, &width, &height);
    return (int)(width + 0.5);
}

static int natural_height(GdkPaintable *paintable) {
    double width, height;
    natural_size(paintable, &width, &height);
    return (int)(height + 0.5);
}

static double natural_ratio(GdkPaintable *paintable) {
    double width, height;
    natural_size(paintable, &width, &height);
    return height > 0 ? width / height : 0;
}

// MARK: Drawing

// Returns the widget for `halcyon_texture_draw`, if the drawing is neither moved nor turned: Cairo reads the pixels
// in place only then. A moved or turned one would be snapped to whole pixels before the transformation, and be
// resampled a second time.
static GtkWidget *lender(const HalcyonPaintable *self) {
    return self->progress >= 1 || self->style == HALCYON_STYLE_FADE ? self->widget : NULL;
}

static void draw_pixels(
    const HalcyonPaintable *self, const Layer *layer, GtkSnapshot *snapshot, double width, double height) {
    halcyon_texture_draw(
        layer->content, snapshot, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height), lender(self));
}

// Draws a template in the widget's colour, by the content's alpha.
static void draw_template(
    const HalcyonPaintable *self, const Layer *layer, GtkSnapshot *snapshot, double width, double height) {
    GdkRGBA color;
    gtk_style_context_get_color(gtk_widget_get_style_context(self->widget), &color);
    graphene_matrix_t matrix;
    graphene_vec4_t offset;
    graphene_matrix_init_scale(&matrix, 0, 0, 0);
    float values[16];
    graphene_matrix_to_float(&matrix, values);
    values[15] = color.alpha;
    graphene_matrix_init_from_float(&matrix, values);
    graphene_vec4_init(&offset, color.red, color.green, color.blue, 0);
    gtk_snapshot_push_color_matrix(snapshot, &matrix, &offset);
    draw_pixels(self, layer, snapshot, width, height);
    gtk_snapshot_pop(snapshot);
}

static void draw_content(
    const HalcyonPaintable *self, const Layer *layer, GtkSnapshot *snapshot, double width, double height) {
    if ((layer->look & HALCYON_LOOK_MIRRORED) && self->widget &&
        gtk_widget_get_direction(self->widget) == GTK_TEXT_DIR_RTL) {
        gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)width, 0));
        gtk_snapshot_scale(snapshot, -1, 1);
    }
    if ((layer->look & HALCYON_LOOK_TEMPLATE) && self->widget) {
        draw_template(self, layer, snapshot, width, height);
    } else {
        draw_pixels(self, layer, snapshot, width, height);
    }
}

// Returns a place that is aligned to the pixels of the screen: between two of them every pixel would be a mixture of
// both.
static graphene_rect_t whole_pixels(const HalcyonPaintable *self, double left, double top, double right, double bottom) {
    double factor = self->widget ? gtk_widget_get_scale_factor(self->widget) : 1;
    double x = floor(left * factor + 0.5), y = floor(top * factor + 0.5);
    double width = MAX(1, floor(right * factor + 0.5) - x), height = MAX(1, floor(bottom * factor + 0.5) - y);
    return GRAPHENE_RECT_INIT(
        (float)(x / factor), (float)(y / factor), (float)(width / factor), (float)(height / factor));
}

// Draws the content around the detail, and the detail in its place: neither may show through the other.
static void draw_detailed(
    const HalcyonPaintable *self, const Layer *layer, GtkSnapshot *snapshot, float width, float height) {
    graphene_rect_t place = self->place;
    graphene_rect_scale(&place, width, height, &place);
    place = whole_pixels(
        self, place.origin.x, place.origin.y, place.origin.x + place.size.width, place.origin.y + place.size.height);
    float left = place.origin.x, right = left + place.size.width;
    float top = place.origin.y, bottom = top + place.size.height;
    const graphene_rect_t around[] = {
        GRAPHENE_RECT_INIT(0, 0, width, top),
        GRAPHENE_RECT_INIT(0, bottom, width, height - bottom),
        GRAPHENE_RECT_INIT(0, top, left, bottom - top),
        GRAPHENE_RECT_INIT(right, top, width - right, bottom - top),
    };
    for (size_t i = 0; i < G_N_ELEMENTS(around); i++) {
        if (around[i].size.width <= 0 || around[i].size.height <= 0) continue;
        gtk_snapshot_push_clip(snapshot, &around[i]);
        draw_content(self, layer, snapshot, width, height);
        gtk_snapshot_pop(snapshot);
    }
    halcyon_texture_draw(self->detail, snapshot, &place, lender(self));
}

static void draw_layer(HalcyonPaintable *self, const Layer *layer, GtkSnapshot *snapshot, double width, double height) {
    double natural_width = layer_width(layer), natural_height = layer_height(layer);
    if (!layer->content || natural_width <= 0 || natural_height <= 0) return;
    double across = width / natural_width, down = height / natural_height;
    double scale = self->fit == HALCYON_FIT_COVER ? MAX(across, down) : MIN(across, down);
    if (self->fit == HALCYON_FIT_SCALE_DOWN) scale = MIN(scale, 1);
    double drawn_width = self->fit == HALCYON_FIT_FILL ? width : natural_width * scale;
    double drawn_height = self->fit == HALCYON_FIT_FILL ? height : natural_height * scale;
    gboolean is_cut = drawn_width > width + 0.01 || drawn_height > height + 0.01;
    if (is_cut) gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
    graphene_rect_t place = whole_pixels(
        self, (width - drawn_width) / 2, (height - drawn_height) / 2, (width + drawn_width) / 2,
        (height + drawn_height) / 2);
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &place.origin);
    if (self->detail && layer == &self->shown) {
        draw_detailed(self, layer, snapshot, place.size.width, place.size.height);
    } else {
        draw_content(self, layer, snapshot, place.size.width, place.size.height);
    }
    gtk_snapshot_restore(snapshot);
    if (is_cut) gtk_snapshot_pop(snapshot);
}

static void draw_fade(HalcyonPaintable *self, GtkSnapshot *snapshot, double width, double height) {
    gtk_snapshot_push_cross_fade(snapshot, self->progress);
    draw_layer(self, &self->former, snapshot, width, height);
    gtk_snapshot_pop(snapshot);
    draw_layer(self, &self->shown, snapshot, width, height);
    gtk_snapshot_pop(snapshot);
}

static void draw_slide(HalcyonPaintable *self, GtkSnapshot *snapshot, double width, double height) {
    double rest = 1 - self->progress;
    double x = self->edge == HALCYON_EDGE_LEFT ? -width * rest : self->edge == HALCYON_EDGE_RIGHT ? width * rest : 0;
    double y = self->edge == HALCYON_EDGE_TOP ? -height * rest : self->edge == HALCYON_EDGE_BOTTOM ? height * rest : 0;
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
    draw_layer(self, &self->former, snapshot, width, height);
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)x, (float)y));
    draw_layer(self, &self->shown, snapshot, width, height);
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
}

// Draws a turning card, seen from afar: as wide as the cosine of its angle, and skewed as it leans. It is not
// three-dimensional, as GSK's Cairo renderer cannot draw that.
static void draw_flip(HalcyonPaintable *self, GtkSnapshot *snapshot, double width, double height) {
    gboolean is_first_half = self->progress < 0.5;
    double angle = self->progress * G_PI;
    double size = MAX(fabs(cos(angle)), 0.001);
    gboolean is_across = self->edge == HALCYON_EDGE_LEFT || self->edge == HALCYON_EDGE_RIGHT;
    double side = self->edge == HALCYON_EDGE_LEFT || self->edge == HALCYON_EDGE_TOP ? 1 : -1;
    double lean = (is_first_half ? 1 : -1) * side * 12 * sin(angle);
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)(width / 2), (float)(height / 2)));
    GskTransform *skew = is_across ? gsk_transform_skew(NULL, 0, (float)lean) : gsk_transform_skew(NULL, (float)lean, 0);
    gtk_snapshot_transform(snapshot, skew);
    gsk_transform_unref(skew);
    gtk_snapshot_scale(snapshot, is_across ? (float)size : 1, is_across ? 1 : (float)size);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)(-width / 2), (float)(-height / 2)));
    draw_layer(self, is_first_half ? &self->former : &self->shown, snapshot, width, height);
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
}

static void draw(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    HalcyonPaintable *self = HALCYON_PAINTABLE(paintable);
    if (self->drawn && (self->drawn_width != width || self->drawn_height != height)) {
        self->drawn_width = width;
        self->drawn_height = height;
        self->drawn(self->data);
    }
    if (width <= 0 || height <= 0) return;
    if (self->ground) gdk_paintable_snapshot(self->ground, snapshot, width, height);
    if (self->progress >= 1) {
        draw_layer(self, &self->shown, GTK_SNAPSHOT(snapshot), width, height);
        return;
    }
    switch (self->style) {
        case HALCYON_STYLE_FADE: draw_fade(self, GTK_SNAPSHOT(snapshot), width, height); break;
        case HALCYON_STYLE_SLIDE: draw_slide(self, GTK_SNAPSHOT(snapshot), width, height); break;
        case HALCYON_STYLE_FLIP: draw_flip(self, GTK_SNAPSHOT(snapshot), width, height); break;
    }
}

// MARK: Contents

static void layer_clear(Layer *layer) {
    g_clear_object(&layer->content);
    layer->scale = 1;
    layer->look = 0;
}

static void invalidate(HalcyonPaintable *self, double width, double height) {
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
    GdkPaintable *paintable = GDK_PAINTABLE(self);
    if (natural_width(paintable) != (int)width || natural_height(paintable) != (int)height) {
        gdk_paintable_invalidate_size(paintable);
    }
}

static void replace(
    HalcyonPaintable *self, GdkTexture *content, double scale, HalcyonLook look, gboolean keeps_former) {
    int width = natural_width(GDK_PAINTABLE(self)), height = natural_height(GDK_PAINTABLE(self));
    layer_clear(&self->former);
    if (keeps_former) {
        self->former = self->shown;
        self->shown.content = NULL;
    }
    if (content) g_object_ref(content);
    layer_clear(&self->shown);
    g_clear_object(&self->detail);
    self->shown.content = content;
    self->shown.scale = scale > 0 ? scale : 1;
    self->shown.look = look;
    self->progress = keeps_former ? 0 : 1;
    invalidate(self, width, height);
}

void halcyon_paintable_show(HalcyonPaintable *self, GdkTexture *content, double scale, HalcyonLook look) {
    replace(self, content, scale, look, FALSE);
}

void halcyon_paintable_begin(
    HalcyonPaintable *self, GdkTexture *content, double scale, HalcyonLook look, HalcyonStyle style,
    HalcyonEdge edge) {
    self->style = style;
    self->edge = edge;
    replace(self, content, scale, look, TRUE);
}

void halcyon_paintable_set_detail(HalcyonPaintable *self, GdkTexture *detail, graphene_rect_t place) {
    g_set_object(&self->detail, detail);
    self->place = place;
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

void halcyon_paintable_set_progress(HalcyonPaintable *self, double progress) {
    self->progress = CLAMP(progress, 0, 1);
    if (self->progress >= 1) layer_clear(&self->former);
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

void halcyon_paintable_set_fit(HalcyonPaintable *self, HalcyonFit fit) {
    if (self->fit == fit) return;
    self->fit = fit;
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

void halcyon_paintable_get_picture_size(HalcyonPaintable *self, int *width, int *height) {
    gboolean has_picture = self->shown.content || (self->ground && HALCYON_PAINTABLE(self->ground)->shown.content);
    *width = has_picture ? natural_width(GDK_PAINTABLE(self)) : 0;
    *height = has_picture ? natural_height(GDK_PAINTABLE(self)) : 0;
}

void halcyon_paintable_set_hint(HalcyonPaintable *self, int width, int height) {
    int old_width = natural_width(GDK_PAINTABLE(self)), old_height = natural_height(GDK_PAINTABLE(self));
    self->hint_width = MAX(0, width);
    self->hint_height = MAX(0, height);
    invalidate(self, old_width, old_height);
}

static void ground_changed(GdkPaintable *ground, GdkPaintable *self) {
    (void)ground;
    gdk_paintable_invalidate_contents(self);
}

static void ground_resized(GdkPaintable *ground, GdkPaintable *self) {
    (void)ground;
    gdk_paintable_invalidate_size(self);
}

void halcyon_paintable_set_ground(HalcyonPaintable *self, GdkPaintable *ground) {
    if (self->ground == ground) return;
    if (self->ground) g_signal_handlers_disconnect_by_data(self->ground, self);
    g_set_object(&self->ground, ground);
    if (ground) {
        g_signal_connect(ground, "invalidate-contents", G_CALLBACK(ground_changed), self);
        g_signal_connect(ground, "invalidate-size", G_CALLBACK(ground_resized), self);
    }
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
    gdk_paintable_invalidate_size(GDK_PAINTABLE(self));
}

void halcyon_paintable_set_widget(HalcyonPaintable *self, GtkWidget *widget) {
    g_set_weak_pointer(&self->widget, widget);
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

void halcyon_paintable_on_drawn(
    HalcyonPaintable *self, void (*drawn)(void *data), void *data, void (*forget)(void *data)) {
    if (self->forget) self->forget(self->data);
    self->drawn = drawn;
    self->data = data;
    self->forget = forget;
    self->drawn_width = self->drawn_height = -1;
}

// MARK: The class

static void halcyon_paintable_dispose(GObject *object) {
    HalcyonPaintable *self = HALCYON_PAINTABLE(object);
    layer_clear(&self->shown);
    layer_clear(&self->former);
    g_clear_object(&self->detail);
    halcyon_paintable_set_ground(self, NULL);
    halcyon_paintable_set_widget(self, NULL);
    halcyon_paintable_on_drawn(self, NULL, NULL, NULL);
    G_OBJECT_CLASS(halcyon_paintable_parent_class)->dispose(object);
}

static void halcyon_paintable_class_init(HalcyonPaintableClass *class) {
    G_OBJECT_CLASS(class)->dispose = halcyon_paintable_dispose;
}

static void halcyon_paintable_init(HalcyonPaintable *self) {
    self->progress = 1;
    self->shown.scale = self->former.scale = 1;
}

static void halcyon_paintable_interface(GdkPaintableInterface *interface) {
    interface->snapshot = draw;
    interface->get_intrinsic_width = natural_width;
    interface->get_intrinsic_height = natural_height;
    interface->get_intrinsic_aspect_ratio = natural_ratio;
}

HalcyonPaintable *halcyon_paintable_new(void) { return g_object_new(halcyon_paintable_get_type(), NULL); }
