import CGTK
import CHalcyonGTK
import Halcyon

/// A `GdkPaintable` that fits an image into the area that it is drawn in, and draws the transition from one image to the next.
@MainActor final class ImagePaintable {
    /// The pixels of an image, and how a view shows them.
    struct Picture: Sendable {
        var texture: ImageTexture
        /// The number of pixels for one unit of a view.
        var scale: Double
        /// Whether the widget's colour is painted through the alpha of the image, as `Image.isTemplate`.
        var isTemplate: Bool
        /// Whether the image is mirrored where text runs from right to left, as `Image.mirrorsForRightToLeft`.
        var mirrorsForRightToLeft: Bool

        /// - Parameter scale: nil, the default, is that of the image.
        init(_ image: Image, scale: Double? = nil) {
            texture = ImageTexture(image.bitmap)
            self.scale = scale ?? image.scale
            isTemplate = image.isTemplate
            mirrorsForRightToLeft = image.mirrorsForRightToLeft
        }

        fileprivate var look: HalcyonLook {
            HalcyonLook(
                rawValue: (isTemplate ? HALCYON_LOOK_TEMPLATE.rawValue : 0)
                    | (mirrorsForRightToLeft ? HALCYON_LOOK_MIRRORED.rawValue : 0))
        }
    }

    /// The `GdkPaintable`, to which this object holds a reference.
    let pointer: OpaquePointer

    init() {
        pointer = halcyon_paintable_new()
    }

    isolated deinit {
        halcyon_paintable_on_drawn(pointer, nil, nil, nil)
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    /// The fit of the image in the area; `.contain` by default.
    var contentFit: ContentFit = .contain {
        didSet { halcyon_paintable_set_fit(pointer, contentFit.halcyonFit) }
    }

    /// The natural size in units while there is no image, so that a list keeps its position; none by default.
    var sizeHint: (width: Int, height: Int)? {
        didSet {
            halcyon_paintable_set_hint(
                pointer, Int32(clamping: sizeHint?.width ?? 0), Int32(clamping: sizeHint?.height ?? 0))
        }
    }

    /// The natural size in units of the picture that is shown; 0 if there is none.
    var pictureSize: (width: Int, height: Int) {
        var (width, height): (Int32, Int32) = (0, 0)
        halcyon_paintable_get_picture_size(pointer, &width, &height)
        return (Int(width), Int(height))
    }

    /// The paintable that is drawn beneath, in a fit of its own; nil by default.
    var background: ImagePaintable? {
        didSet { halcyon_paintable_set_ground(pointer, background?.pointer) }
    }

    /// The progress of a transition, from 0 to 1.
    var progress: Double = 1 {
        didSet { halcyon_paintable_set_progress(pointer, progress) }
    }

    /// Sets the widget whose colour templates are painted in and whose text direction counts; the reference is weak. With nil,
    /// the default, templates are painted as they are.
    func follow(_ widget: UnsafeMutablePointer<GtkWidget>?) {
        halcyon_paintable_set_widget(pointer, widget)
    }

    /// Shows an image, or nothing, from now on.
    func show(_ picture: Picture?) {
        // The texture lives until GTK has a reference of its own.
        withExtendedLifetime(picture) {
            halcyon_paintable_show(
                pointer, picture?.texture.pointer, picture?.scale ?? 1, picture?.look ?? HALCYON_LOOK_PLAIN)
        }
    }

    /// Starts a transition to an image: the former one fades out or moves away until `progress` is 1. With a custom style,
    /// shows the image at once.
    func begin(_ picture: Picture, _ style: ImageTransition.Style) {
        guard let drawn = style.drawn else { return show(picture) }
        withExtendedLifetime(picture) {
            halcyon_paintable_begin(
                pointer, picture.texture.pointer, picture.scale, picture.look, drawn.style, drawn.edge)
        }
    }

    /// Draws a part of the picture from pixels of its own, until another picture is shown.
    ///
    /// - Parameters:
    ///   - texture: the pixels of the part; nil for none.
    ///   - part: the part, in shares of the whole from 0 to 1.
    func showDetail(_ texture: ImageTexture?, in part: graphene_rect_t = graphene_rect_t()) {
        withExtendedLifetime(texture) { halcyon_paintable_set_detail(pointer, texture?.pointer, part) }
    }

    /// Sets a closure that is called soon after the paintable was drawn in another size than before.
    func onDrawn(_ body: @escaping @MainActor () -> Void) {
        halcyon_paintable_on_drawn(pointer, MainCall.later, MainCall.pointer(to: body), Release.destroy)
    }
}

extension ContentFit {
    fileprivate var halcyonFit: HalcyonFit {
        switch self {
        case .contain: HALCYON_FIT_CONTAIN
        case .cover: HALCYON_FIT_COVER
        case .fill: HALCYON_FIT_FILL
        case .scaleDown: HALCYON_FIT_SCALE_DOWN
        }
    }
}

extension ImageTransition.Style {
    /// The C style and edge; nil for a custom style.
    fileprivate var drawn: (style: HalcyonStyle, edge: HalcyonEdge)? {
        switch self {
        case .crossFade: (HALCYON_STYLE_FADE, HALCYON_EDGE_LEFT)
        case .flip(let edge): (HALCYON_STYLE_FLIP, edge.halcyonEdge)
        case .slide(let edge): (HALCYON_STYLE_SLIDE, edge.halcyonEdge)
        case .custom: nil
        }
    }
}

extension ImageTransition.Edge {
    fileprivate var halcyonEdge: HalcyonEdge {
        switch self {
        case .left: HALCYON_EDGE_LEFT
        case .right: HALCYON_EDGE_RIGHT
        case .top: HALCYON_EDGE_TOP
        case .bottom: HALCYON_EDGE_BOTTOM
        }
    }
}
