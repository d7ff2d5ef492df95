import CHalcyonPixels
import HalcyonSystem

extension Bitmap {
    /// The part that `geometry` names, scaled to its size.
    ///
    /// Cost: linear in the pixels of the source's part and of the result. Memory beside the result: at most 64 of its
    /// rows and one of the source's, at 16 bytes a pixel, and of the filter's weights a few for each row and column of
    /// both.
    ///
    /// - Throws: `BitmapError`: `.invalidSource` where the part is empty or not inside the bitmap; `CancellationError`
    ///   within 16 rows of the cancellation.
    public func resampled(
        _ geometry: ResizeGeometry, filter: ResizeFilter = .lanczos, context: WorkContext = .uncancellable
    ) throws -> Bitmap {
        if geometry.isIdentity(for: size) { return self }
        guard geometry.liesInside(size) else { throw BitmapError.invalidSource(size) }
        return try Bitmap(size: geometry.size, isOpaque: isOpaque) { output in
            let status = withKernelBitmap { source in
                withCancellation(context) { cancelled, pointer in
                    halcyon_resample(
                        source, geometry.region, .init(output, size: geometry.size), filter.kernel, cancelled, pointer)
                }
            }
            if status == HALCYON_CANCELLED { throw CancellationError() }
            if status != HALCYON_OK { throw BitmapError.outOfMemory(bytes: geometry.size.width * 16) }
        }
    }

    /// The pixels turned upright from how a file with `orientation` stores them.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    public func oriented(_ orientation: Orientation) throws -> Bitmap {
        if orientation == .up { return self }
        let upright = orientation.applied(to: size)
        return try Bitmap(size: upright, isOpaque: isOpaque) { output in
            withKernelBitmap { source in
                halcyon_orient(source, .init(output, size: upright), Int32(orientation.rawValue))
            }
        }
    }

    /// A copy of a part that lies inside the bitmap.
    ///
    /// - Throws: `BitmapError.invalidSize` where it does not.
    public func cropped(to rect: PixelRect) throws -> Bitmap {
        guard rect.clamped(to: size) == rect else { throw BitmapError.invalidSize(rect.size) }
        return try Bitmap(size: rect.size, isOpaque: isOpaque) { output in
            withPixels { source in
                let rowBytes = rect.size.width * 4
                for row in 0..<rect.size.height {
                    let start = (rect.y + row) * bytesPerRow + rect.x * 4
                    output[(row * rowBytes)..<((row + 1) * rowBytes)].copyBytes(from: source[start..<start + rowBytes])
                }
            }
        }
    }

    private func withKernelBitmap<Result>(_ body: (halcyon_bitmap) throws -> Result) rethrows -> Result {
        try withPixels { bytes in
            // The kernels only read a source; C has one struct for both.
            try body(halcyon_bitmap(UnsafeMutableRawBufferPointer(mutating: bytes), size: size))
        }
    }
}

extension ResizeGeometry {
    var region: halcyon_region {
        halcyon_region(x: sourceX, y: sourceY, width: sourceWidth, height: sourceHeight)
    }

    /// Whether the part has an area, all of it inside a source of this size. What calculations round off is tolerated.
    func liesInside(_ source: PixelSize) -> Bool {
        let tolerance = 1e-6
        // Comparisons with what is no number are false.
        return sourceWidth > 0 && sourceHeight > 0 && sourceX >= -tolerance && sourceY >= -tolerance
            && sourceX + sourceWidth <= Double(source.width) + tolerance
            && sourceY + sourceHeight <= Double(source.height) + tolerance
    }

    /// Whether the whole source becomes itself.
    public func isIdentity(for source: PixelSize) -> Bool {
        size == source && sourceX == 0 && sourceY == 0 && sourceWidth == Double(source.width)
            && sourceHeight == Double(source.height)
    }
}

extension halcyon_bitmap {
    init(_ bytes: UnsafeMutableRawBufferPointer, size: PixelSize) {
        self.init(
            pixels: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(size.width),
            height: Int32(size.height))
    }
}

/// Hands C a way to ask whether the work is still wanted.
private func withCancellation<Result>(
    _ context: WorkContext, _ body: (halcyon_cancelled, UnsafeMutableRawPointer) -> Result
) -> Result {
    withUnsafePointer(to: context) { pointer in
        body(
            { $0?.assumingMemoryBound(to: WorkContext.self).pointee.isCancelled ?? false },
            UnsafeMutableRawPointer(mutating: pointer))
    }
}
