#include "halcyon_gtk.h"

typedef struct {
    GdkPaintable *content;
    double scale;
} Layer;

struct _HalcyonPaintable {
    GObject parent;
    Layer shown;
    // What a transition leads away from.
    Layer former;
    double progress;
    HalcyonStyle style;
    HalcyonEdge edge;
    HalcyonFit fit;
    int hint_width, hint_height;
};

static void halcyon_paintable_interface(GdkPaintableInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE(
    HalcyonPaintable, halcyon_paintable, G_TYPE_OBJECT,
    G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, halcyon_paintable_interface))

// MARK: Sizes

static double layer_width(const Layer *layer) {
    return layer->content ? gdk_paintable_get_intrinsic_width(layer->content) / layer->scale : 0;
}

static double layer_height(const Layer *layer) {
    return layer->content ? gdk_paintable_get_intrinsic_height(layer->content) / layer->scale : 0;
}

static int natural_width(GdkPaintable *paintable) {
    HalcyonPaintable *self = HALCYON_PAINTABLE(paintable);
    return self->shown.content ? (int)(layer_width(&self->shown) + 0.5) : self->hint_width;
}

static int natural_height(GdkPaintable *paintable) {
    HalcyonPaintable *self = HALCYON_PAINTABLE(paintable);
    return self->shown.content ? (int)(layer_height(&self->shown) + 0.5) : self->hint_height;
}

static double natural_ratio(GdkPaintable *paintable) {
    HalcyonPaintable *self = HALCYON_PAINTABLE(paintable);
    double width = self->shown.content ? layer_width(&self->shown) : self->hint_width;
    double height = self->shown.content ? layer_height(&self->shown) : self->hint_height;
    return height > 0 ? width / height : 0;
}

// MARK: Drawing

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
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(
        snapshot,
        &GRAPHENE_POINT_INIT((float)((width - drawn_width) / 2), (float)((height - drawn_height) / 2)));
    gdk_paintable_snapshot(layer->content, snapshot, drawn_width, drawn_height);
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

// A card that is turned, seen from afar: as wide as the cosine of its angle, and askew as it leans. Not in three
// dimensions, which GSK's Cairo renderer cannot draw.
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
    if (width <= 0 || height <= 0) return;
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
}

static void invalidate(HalcyonPaintable *self, double width, double height) {
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
    GdkPaintable *paintable = GDK_PAINTABLE(self);
    if (natural_width(paintable) != (int)width || natural_height(paintable) != (int)height) {
        gdk_paintable_invalidate_size(paintable);
    }
}

static void replace(HalcyonPaintable *self, GdkPaintable *content, double scale, gboolean keeps_former) {
    int width = natural_width(GDK_PAINTABLE(self)), height = natural_height(GDK_PAINTABLE(self));
    layer_clear(&self->former);
    if (keeps_former) {
        self->former = self->shown;
        self->shown.content = NULL;
    }
    if (content) g_object_ref(content);
    layer_clear(&self->shown);
    self->shown.content = content;
    self->shown.scale = scale > 0 ? scale : 1;
    self->progress = keeps_former ? 0 : 1;
    invalidate(self, width, height);
}

void halcyon_paintable_show(HalcyonPaintable *self, GdkPaintable *content, double scale) {
    replace(self, content, scale, FALSE);
}

void halcyon_paintable_begin(
    HalcyonPaintable *self, GdkPaintable *content, double scale, HalcyonStyle style, HalcyonEdge edge) {
    self->style = style;
    self->edge = edge;
    replace(self, content, scale, TRUE);
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

void halcyon_paintable_set_hint(HalcyonPaintable *self, int width, int height) {
    int old_width = natural_width(GDK_PAINTABLE(self)), old_height = natural_height(GDK_PAINTABLE(self));
    self->hint_width = MAX(0, width);
    self->hint_height = MAX(0, height);
    invalidate(self, old_width, old_height);
}

// MARK: The class

static void halcyon_paintable_dispose(GObject *object) {
    HalcyonPaintable *self = HALCYON_PAINTABLE(object);
    layer_clear(&self->shown);
    layer_clear(&self->former);
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
