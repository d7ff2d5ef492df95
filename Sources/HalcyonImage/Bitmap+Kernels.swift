import CHalcyonPixels
import HalcyonSystem

extension Bitmap {
    /// Whether every alpha byte is 255, also where `isOpaque` does not promise it. Costs a look at each pixel that may be transparent.
    package var hasOpaquePixelsOnly: Bool {
        isOpaque
            || withPixels {
                halcyon_is_opaque($0.baseAddress?.assumingMemoryBound(to: UInt8.self), width * height)
            }
    }

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
package func withCancellation<Result>(
    _ context: WorkContext, _ body: (halcyon_cancelled, UnsafeMutableRawPointer) -> Result
) -> Result {
    withUnsafePointer(to: context) { pointer in
        body(
            { $0?.assumingMemoryBound(to: WorkContext.self).pointee.isCancelled ?? false },
            UnsafeMutableRawPointer(mutating: pointer))
    }
}

// MARK: - Packed pixels

extension Bitmap {
    /// The number of bytes of the packed pixels: three a pixel if all are opaque, otherwise four.
    package static func packedByteCount(of size: PixelSize, isOpaque: Bool) -> Int? {
        guard let (count, overflow) = size.area?.multipliedReportingOverflow(by: isOpaque ? 3 : 4), !overflow else {
            return nil
        }
        return count
    }

    /// Writes the pixels without the alpha that all of them share.
    ///
    /// - Parameter bytes: as many bytes as `packedByteCount` says.
    package func pack(into bytes: UnsafeMutableRawBufferPointer) {
        withPixels { pixels in
            guard isOpaque else { return bytes.copyMemory(from: pixels) }
            halcyon_pack(
                pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), width * height,
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Creates a bitmap from packed pixels, which are as many bytes as `packedByteCount` says.
    ///
    /// - Throws: `BitmapError`.
    package convenience init(size: PixelSize, isOpaque: Bool, packed: UnsafeRawBufferPointer) throws {
        guard packed.count == Self.packedByteCount(of: size, isOpaque: isOpaque) else {
            throw BitmapError.invalidSize(size)
        }
        try self.init(size: size, isOpaque: isOpaque) { pixels in
            guard isOpaque else { return pixels.copyMemory(from: packed) }
            halcyon_unpack(
                packed.baseAddress?.assumingMemoryBound(to: UInt8.self), size.width * size.height,
                pixels.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }
}
