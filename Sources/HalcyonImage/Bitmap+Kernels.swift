import CHalcyonPixels
import HalcyonSystem

extension Bitmap {
    /// A C function that computes the result's pixels from the source's, and polls `cancelled` for cancellation.
    package typealias Kernel = (
        _ source: halcyon_bitmap, _ result: halcyon_bitmap, _ cancelled: halcyon_cancelled,
        _ context: UnsafeMutableRawPointer
    ) -> halcyon_status

    /// Returns a bitmap that a kernel computes from this one, or from a part that lies inside it.
    ///
    /// - Throws: `BitmapError`; `CancellationError`.
    package func applying(
        to part: PixelRect? = nil, size: PixelSize? = nil, isOpaque: Bool, context: WorkContext, _ kernel: Kernel
    ) throws -> Bitmap {
        let size = size ?? part?.size ?? self.size
        return try Bitmap(size: size, isOpaque: isOpaque) { output in
            let status = withKernelBitmap(part) { source in
                withCancellation(context) { kernel(source, .init(output, size: size), $0, $1) }
            }
            if status == HALCYON_CANCELLED { throw CancellationError() }
            if status != HALCYON_OK { throw BitmapError.outOfMemory(bytes: size.width * 16) }
        }
    }

    private func withKernelBitmap<Result>(
        _ part: PixelRect?, _ body: (halcyon_bitmap) throws -> Result
    ) rethrows -> Result {
        try withPixels { bytes in
            // The kernels only read a source, but C has one struct for both.
            var source = halcyon_bitmap(UnsafeMutableRawBufferPointer(mutating: bytes), size: size)
            if let part {
                source.pixels += part.y * bytesPerRow + part.x * 4
                source.width = Int32(part.size.width)
                source.height = Int32(part.size.height)
            }
            return try body(source)
        }
    }
}

extension halcyon_bitmap {
    init(_ bytes: UnsafeMutableRawBufferPointer, size: PixelSize) {
        self.init(
            pixels: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(size.width),
            height: Int32(size.height), stride: size.width * 4)
    }
}

/// Passes C a function and a context pointer to poll for cancellation.
private func withCancellation<Result>(
    _ context: WorkContext, _ body: (halcyon_cancelled, UnsafeMutableRawPointer) -> Result
) -> Result {
    withUnsafePointer(to: context) { pointer in
        body(
            { $0?.assumingMemoryBound(to: WorkContext.self).pointee.isCancelled ?? false },
            UnsafeMutableRawPointer(mutating: pointer))
    }
}
