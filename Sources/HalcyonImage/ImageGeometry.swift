import HalcyonSystem

/// A part of an image that is scaled and then turned, for its pixels and for what belongs to them.
package struct ImageGeometry: Sendable {
    /// A scaling of the part.
    package struct Scaling: Sendable {
        package var geometry: ResizeGeometry
        package let filter: ResizeFilter
        package let light: ResizeLight

        package init(_ geometry: ResizeGeometry, filter: ResizeFilter = .lanczos, light: ResizeLight = .encoded) {
            (self.geometry, self.filter, self.light) = (geometry, filter, light)
        }
    }

    /// The part that is kept, before it is turned; nil for the whole.
    package var part: PixelRect?
    package var scaling: Scaling?
    package var orientation: Orientation

    package init(part: PixelRect? = nil, scaling: Scaling? = nil, orientation: Orientation = .up) {
        (self.part, self.scaling, self.orientation) = (part, scaling, orientation)
    }

    /// Returns the pixels themselves if nothing changes.
    ///
    /// - Throws: `BitmapError`, `CancellationError`.
    package func applied<Pixels: PlacedPixels>(to pixels: Pixels, context: WorkContext) throws -> Pixels {
        if let scaling, part != nil || !scaling.geometry.isIdentity(for: pixels.size) {
            let scaled = try pixels.resampled(
                part, scaling.geometry, filter: scaling.filter, light: scaling.light, context: context)
            return orientation == .up ? scaled : try scaled.oriented(nil, orientation, context: context)
        }
        if orientation != .up { return try pixels.oriented(part, orientation, context: context) }
        return try part.map { try pixels.cropped(to: $0, context: context) } ?? pixels
    }

    /// Returns the gain map of the same part of an image of this size.
    ///
    /// - Throws: `BitmapError`, `CancellationError`.
    package func applied(to map: GainMap, of size: PixelSize, context: WorkContext) throws -> GainMap {
        let part = part ?? PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        var geometry =
            scaling?.geometry ?? ResizeGeometry(source: part.size, box: part.size, mode: .stretch, upscale: false)
        geometry.sourceX += Double(part.x)
        geometry.sourceY += Double(part.y)
        // A filter with negative weights would draw dark seams into the light around bright spots.
        let scaled = try map.bitmap.resampled(
            geometry.followed(by: map.size, of: size), filter: .bilinear, context: context)
        return map.replacing(
            orientation == .up ? scaled : try scaled.oriented(nil, orientation, context: context))
    }
}

/// Pixels in rows, of any depth, which are cut, scaled and turned.
package protocol PlacedPixels: AnyObject {
    var size: PixelSize { get }

    func resampled(
        _ part: PixelRect?, _ geometry: ResizeGeometry, filter: ResizeFilter, light: ResizeLight, context: WorkContext
    ) throws -> Self
    func oriented(_ part: PixelRect?, _ orientation: Orientation, context: WorkContext) throws -> Self
    func cropped(to rect: PixelRect, context: WorkContext) throws -> Self
}

extension Bitmap: PlacedPixels {}
extension DeepBitmap: PlacedPixels {}

extension ResizeGeometry {
    /// Returns the scaling of a gain map that covers a source of `size`, for the result of this scaling: the map keeps its ratio to the
    /// picture's pixels, and is never enlarged.
    package func followed(by map: PixelSize, of size: PixelSize) -> ResizeGeometry {
        let (across, down) = (Double(map.width) / Double(size.width), Double(map.height) / Double(size.height))
        var geometry = self
        geometry.sourceX *= across
        geometry.sourceY *= down
        geometry.sourceWidth *= across
        geometry.sourceHeight *= down
        func side(_ final: Int, _ ratio: Double, atMost source: Double) -> Int {
            // The small term prevents a rounding error from making one pixel more.
            max(1, Int(min((Double(final) * ratio).rounded(), (source - 1e-6).rounded(.up))))
        }
        geometry.size = PixelSize(
            side(self.size.width, across, atMost: geometry.sourceWidth),
            side(self.size.height, down, atMost: geometry.sourceHeight))
        return geometry
    }
}

extension Image {
    /// Returns the part of the image that a geometry names, scaled and turned; without an animation if anything changes.
    ///
    /// - Throws: `BitmapError`, `CancellationError`.
    package func applying(_ geometry: ImageGeometry, context: WorkContext) throws -> Image {
        let pixels = try geometry.applied(to: bitmap, context: context)
        guard pixels !== bitmap else { return self }
        var image = replacing(pixels)
        if let gainMap { image.gainMap = try geometry.applied(to: gainMap, of: size, context: context) }
        if let deepBitmap { image.deepBitmap = try geometry.applied(to: deepBitmap, context: context) }
        return image
    }
}
