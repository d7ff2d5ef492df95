import HalcyonImage
import HalcyonSystem

/// Cuts, turns and at most one scaling, combined into one pass: a part of the source is scaled and then turned.
///
/// Each pixel is within one level of the result of separate steps, since pixels that are cut away are not sampled and
/// a turn only exchanges places.
struct GeometryPlan {
    /// The part of the source that is kept, before it is turned.
    private var part: PixelRect
    /// The scaling from the part to the size before the turn; nil if nothing is scaled.
    private var scaling: ImageGeometry.Scaling?
    private var orientation = Orientation.up
    private let source: PixelSize

    init(_ source: PixelSize) {
        self.source = source
        part = PixelRect(x: 0, y: 0, width: source.width, height: source.height)
    }

    /// The size of the result so far.
    var size: PixelSize { orientation.applied(to: scaling?.geometry.size ?? part.size) }

    /// Keeps a rectangle that lies inside of `size`.
    mutating func crop(_ rect: PixelRect) {
        let rect = orientation.inverse.applied(to: rect, in: size)
        guard var geometry = scaling?.geometry else {
            part = PixelRect(x: part.x + rect.x, y: part.y + rect.y, width: rect.size.width, height: rect.size.height)
            return
        }
        let (across, down) = (geometry.scaleX, geometry.scaleY)
        geometry.sourceX += Double(rect.x) * across
        geometry.sourceY += Double(rect.y) * down
        geometry.sourceWidth = Double(rect.size.width) * across
        geometry.sourceHeight = Double(rect.size.height) * down
        geometry.size = rect.size
        scaling?.geometry = geometry
    }

    mutating func turn(_ next: Orientation) {
        orientation = orientation.followed(by: next)
    }

    /// Adds a scaling; allowed once at most.
    mutating func scale(_ geometry: ResizeGeometry, filter: ResizeFilter, light: ResizeLight = .encoded) {
        scaling = ImageGeometry.Scaling(
            geometry.turned(by: orientation.inverse, from: size), filter: filter, light: light)
    }

    /// Applies the plan to the pixels of 8 bits and to the deep ones, if there are some.
    func applied(to image: Image, context: WorkContext) throws -> Image {
        try context.checkCancellation()
        let whole = part.size == source ? nil : part
        return try image.applying(
            ImageGeometry(part: whole, scaling: scaling, orientation: orientation), context: context)
    }
}

extension ResizeGeometry {
    /// The number of source pixels for each pixel of the result.
    fileprivate var scaleX: Double { sourceWidth / Double(size.width) }
    fileprivate var scaleY: Double { sourceHeight / Double(size.height) }

    /// Returns the same scaling for a source that is turned.
    ///
    /// - Parameter source: The size before the turn.
    fileprivate func turned(by orientation: Orientation, from source: PixelSize) -> ResizeGeometry {
        var turned = self
        let (width, height) = (Double(source.width), Double(source.height))
        if orientation.mirrorsX { turned.sourceX = width - sourceX - sourceWidth }
        if orientation.mirrorsY { turned.sourceY = height - sourceY - sourceHeight }
        guard orientation.swapsSides else { return turned }
        (turned.sourceX, turned.sourceY) = (turned.sourceY, turned.sourceX)
        (turned.sourceWidth, turned.sourceHeight) = (turned.sourceHeight, turned.sourceWidth)
        turned.size = size.transposed
        return turned
    }
}

extension Orientation {
    /// An orientation is its mirrorings, followed by an exchange of rows and columns.
    fileprivate var mirrorsX: Bool { [.upMirrored, .down, .rightMirrored, .left].contains(self) }
    fileprivate var mirrorsY: Bool { [.down, .downMirrored, .rightMirrored, .right].contains(self) }

    private init(mirrorsX: Bool, mirrorsY: Bool, swaps: Bool) {
        self =
            switch (mirrorsX, mirrorsY, swaps) {
            case (false, false, false): .up
            case (true, false, false): .upMirrored
            case (true, true, false): .down
            case (false, true, false): .downMirrored
            case (false, false, true): .leftMirrored
            case (false, true, true): .right
            case (true, true, true): .rightMirrored
            case (true, false, true): .left
            }
    }

    /// Returns the orientation that has the effect of this one followed by another.
    fileprivate func followed(by next: Orientation) -> Orientation {
        // After an exchange, a mirroring across becomes one down.
        let (x, y) = swapsSides ? (next.mirrorsY, next.mirrorsX) : (next.mirrorsX, next.mirrorsY)
        return Orientation(
            mirrorsX: mirrorsX != x, mirrorsY: mirrorsY != y, swaps: swapsSides != next.swapsSides)
    }

    /// Returns the place of a rectangle of an image of this size after the turn.
    fileprivate func applied(to rect: PixelRect, in size: PixelSize) -> PixelRect {
        let x = mirrorsX ? size.width - rect.x - rect.size.width : rect.x
        let y = mirrorsY ? size.height - rect.y - rect.size.height : rect.y
        let turned = applied(to: rect.size)
        return swapsSides
            ? PixelRect(x: y, y: x, width: turned.width, height: turned.height)
            : PixelRect(x: x, y: y, width: turned.width, height: turned.height)
    }
}
