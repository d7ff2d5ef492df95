import CGTK
import CHalcyonGTK
import Halcyon

/// A `GdkPaintable` that fits an image into whatever it is given to draw in, and draws the way from one image to the next.
@MainActor public final class ImagePaintable {
    /// The `GdkPaintable`, kept by this object.
    public let pointer: OpaquePointer

    public init() {
        pointer = halcyon_paintable_new()
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    /// `.contain` by default.
    public var contentFit: ContentFit = .contain {
        didSet { halcyon_paintable_set_fit(pointer, contentFit.halcyonFit) }
    }

    /// The natural size in units while there is no image, so that a list keeps its place; none by default.
    public var sizeHint: (width: Int, height: Int)? {
        didSet {
            halcyon_paintable_set_hint(
                pointer, Int32(clamping: sizeHint?.width ?? 0), Int32(clamping: sizeHint?.height ?? 0))
        }
    }

    /// How far a transition is, from 0 to 1.
    public var progress: Double = 1 {
        didSet { halcyon_paintable_set_progress(pointer, progress) }
    }

    /// Shows an image, or nothing, from now on.
    ///
    /// - Parameter scale: its pixels for one unit of a view.
    public func show(_ texture: ImageTexture?, scale: Double = 1) {
        // The texture is kept until GTK has a reference of its own.
        withExtendedLifetime(texture) { halcyon_paintable_show(pointer, texture?.pointer, scale) }
    }

    /// Shows an image in the place of the one before, which is seen less and less until `progress` is 1; at once where the
    /// style is a program's own.
    public func begin(_ texture: ImageTexture, scale: Double = 1, _ style: ImageTransition.Style) {
        guard let drawn = style.drawn else { return show(texture, scale: scale) }
        withExtendedLifetime(texture) {
            halcyon_paintable_begin(pointer, texture.pointer, scale, drawn.style, drawn.edge)
        }
    }
}

extension ImageTransition.Style {
    /// Nil for a program's own.
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
