import CHalcyonPixels
import HalcyonSystem

extension DeepBitmap {
    /// Returns the part that `geometry` names, scaled to its size, as `Bitmap.resampled` does.
    ///
    /// The values are averaged in floating point and rounded once: those of `.uint16` are within 1 of 65,535 of the
    /// same calculation with real numbers, in linear light within 2, and those of `.float16` within a step of theirs.
    /// Memory beyond the result: up to 112 rows at 16 bytes a pixel, and in linear light a table of 256 KiB.
    ///
    /// - Parameter part: the part within which it is done, as if no pixels surrounded it; nil for all.
    /// - Throws: `BitmapError.invalidSource` if the part is empty or not inside the bitmap, and other `BitmapError`s;
    ///   `CancellationError`.
    package func resampled(
        _ part: PixelRect?, _ geometry: ResizeGeometry, filter: ResizeFilter = .lanczos,
        light: ResizeLight = .encoded, context: WorkContext = .uncancellable
    ) throws -> DeepBitmap {
        if part == nil, geometry.isIdentity(for: size) { return self }
        let source = part?.size ?? size
        guard geometry.liesInside(source), part == nil || part?.clamped(to: size) == part else {
            throw BitmapError.invalidSource(source)
        }
        let pixels = halcyon_deep_pixels(channels: format.channels.kernel, transfer: format.colorSpace.transfer)
        return try applying(to: part, size: geometry.size, context: context) {
            halcyon_deep_resample($0, geometry.region, $1, pixels, filter.kernel, light.kernel, $2, $3)
        }
    }

    /// Returns `part`, which must lie inside the bitmap, turned upright, taking it as stored with `orientation`; the whole
    /// bitmap if it is nil.
    ///
    /// - Throws: `BitmapError`: `.invalidSize` if the part is not inside the bitmap; `CancellationError`.
    package func oriented(
        _ part: PixelRect?, _ orientation: Orientation, context: WorkContext = .uncancellable
    ) throws -> DeepBitmap {
        if part == nil, orientation == .up { return self }
        let stored = part?.size ?? size
        guard part == nil || part?.clamped(to: size) == part else { throw BitmapError.invalidSize(stored) }
        return try applying(to: part, size: orientation.applied(to: stored), context: context) {
            halcyon_deep_orient($0, $1, Int32(orientation.rawValue), $2, $3)
        }
    }

    /// Returns a copy of a part that lies inside the bitmap.
    ///
    /// - Throws: `BitmapError.invalidSize` if the part does not lie inside; `CancellationError`.
    package func cropped(to rect: PixelRect, context: WorkContext = .uncancellable) throws -> DeepBitmap {
        try oriented(rect, .up, context: context)
    }

    private func applying(
        to part: PixelRect?, size: PixelSize, context: WorkContext, _ kernel: Bitmap.Kernel
    ) throws -> DeepBitmap {
        try DeepBitmap(size: size, format: format, isOpaque: isOpaque) { output in
            let status = withPixels { bytes in
                // The kernels only read a source, but C has one struct for both.
                var source = halcyon_bitmap(deep: UnsafeMutableRawBufferPointer(mutating: bytes), size: self.size)
                if let part {
                    source.pixels += part.y * bytesPerRow + part.x * 8
                    (source.width, source.height) = (Int32(part.size.width), Int32(part.size.height))
                }
                return withCancellation(context) { kernel(source, .init(deep: output, size: size), $0, $1) }
            }
            if status == HALCYON_CANCELLED { throw CancellationError() }
            if status != HALCYON_OK { throw BitmapError.outOfMemory(bytes: size.width * 16) }
        }
    }
}

extension halcyon_bitmap {
    fileprivate init(deep bytes: UnsafeMutableRawBufferPointer, size: PixelSize) {
        self.init(
            pixels: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(size.width),
            height: Int32(size.height), stride: size.width * 8)
    }
}
