import CHalcyonPixels
import HalcyonSystem

extension Bitmap {
    /// Returns the part that `geometry` names, scaled to its size.
    ///
    /// Cost: linear in the pixels of the source part and of the result. Memory beyond the result: one source row and one
    /// result row at 16 bytes a pixel; up to 112 further rows, either source rows at 4 or result rows at 16 bytes a pixel,
    /// in linear light up to 23 source rows at 16 and 16 at 4; and a few filter weights for each row and column of both.
    ///
    /// - Throws: `BitmapError.invalidSource` if the part is empty or not inside the bitmap, and other `BitmapError`s;
    ///   `CancellationError` within 16 rows of the cancellation.
    package func resampled(
        _ geometry: ResizeGeometry, filter: ResizeFilter = .lanczos, light: ResizeLight = .encoded,
        context: WorkContext = .uncancellable
    ) throws -> Bitmap {
        if geometry.isIdentity(for: size) { return self }
        return try resampled(nil, geometry, filter: filter, light: light, context: context)
    }

    /// Resamples within `part`, which must lie inside the bitmap, as if no pixels surrounded it; within the whole bitmap if
    /// it is nil.
    package func resampled(
        _ part: PixelRect?, _ geometry: ResizeGeometry, filter: ResizeFilter, light: ResizeLight, context: WorkContext
    ) throws -> Bitmap {
        let source = part?.size ?? size
        guard geometry.liesInside(source), part == nil || part?.clamped(to: size) == part else {
            throw BitmapError.invalidSource(source)
        }
        return try applying(to: part, size: geometry.size, isOpaque: isOpaque, context: context) {
            halcyon_resample($0, geometry.region, $1, filter.kernel, light.kernel, $2, $3)
        }
    }

    /// Returns the bitmap turned upright, taking its pixels as stored with `orientation`.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    public func oriented(_ orientation: Orientation) throws -> Bitmap {
        orientation == .up ? self : try oriented(nil, orientation, context: .uncancellable)
    }

    /// Returns `part`, which must lie inside the bitmap, turned upright; the whole bitmap if it is nil.
    ///
    /// - Throws: `BitmapError`: `.invalidSize` if the part is not inside the bitmap; `CancellationError`.
    package func oriented(
        _ part: PixelRect?, _ orientation: Orientation, context: WorkContext
    ) throws -> Bitmap {
        let stored = part?.size ?? size
        guard part == nil || part?.clamped(to: size) == part else { throw BitmapError.invalidSize(stored) }
        return try applying(
            to: part, size: orientation.applied(to: stored), isOpaque: isOpaque, context: context
        ) { halcyon_orient($0, $1, Int32(orientation.rawValue), $2, $3) }
    }

    /// Returns a copy of a part that lies inside the bitmap.
    ///
    /// - Throws: `BitmapError.invalidSize` if the part does not lie inside.
    public func cropped(to rect: PixelRect) throws -> Bitmap { try cropped(to: rect, context: .uncancellable) }

    /// Returns a copy of a part that lies inside the bitmap.
    ///
    /// - Throws: `BitmapError.invalidSize` if the part does not lie inside; `CancellationError` within 64 rows of the
    ///   cancellation.
    package func cropped(to rect: PixelRect, context: WorkContext) throws -> Bitmap {
        guard rect.clamped(to: size) == rect else { throw BitmapError.invalidSize(rect.size) }
        return try Bitmap(size: rect.size, isOpaque: isOpaque) { output in
            try withPixels { source in
                let rowBytes = rect.size.width * 4
                for row in 0..<rect.size.height {
                    if row % 64 == 0 { try context.checkCancellation() }
                    let start = (rect.y + row) * bytesPerRow + rect.x * 4
                    output[(row * rowBytes)..<((row + 1) * rowBytes)].copyBytes(from: source[start..<start + rowBytes])
                }
            }
        }
    }
}

extension ResizeGeometry {
    var region: halcyon_region {
        halcyon_region(x: sourceX, y: sourceY, width: sourceWidth, height: sourceHeight)
    }

    /// Whether the part has an area and lies completely inside a source of this size. Rounding errors of calculations are
    /// tolerated.
    func liesInside(_ source: PixelSize) -> Bool {
        let tolerance = 1e-6
        // Comparisons with NaN are false.
        return sourceWidth > 0 && sourceHeight > 0 && sourceX >= -tolerance && sourceY >= -tolerance
            && sourceX + sourceWidth <= Double(source.width) + tolerance
            && sourceY + sourceHeight <= Double(source.height) + tolerance
    }

    /// Whether the geometry maps the whole source to itself.
    package func isIdentity(for source: PixelSize) -> Bool {
        size == source && sourceX == 0 && sourceY == 0 && sourceWidth == Double(source.width)
            && sourceHeight == Double(source.height)
    }
}
