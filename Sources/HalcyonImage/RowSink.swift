import CHalcyonPixels

/// Takes the rows of an image one after the other, and makes a bitmap of the part and size that is wanted.
///
/// What a decoder writes to that need not have its whole image in memory. One thread at a time.
public final class RowSink {
    /// Pixels of the rows that come.
    public let sourceSize: PixelSize
    /// For C that puts rows itself, by `halcyon_row_sink_put`.
    package let pointer: OpaquePointer
    private var next = 0

    fileprivate init(source: PixelSize, geometry: ResizeGeometry, filter: ResizeFilter, result: halcyon_bitmap) throws {
        sourceSize = source
        let sink = halcyon_row_sink_create(
            Int32(clamping: source.width), Int32(clamping: source.height), geometry.region, result, filter.kernel)
        guard let sink else { throw BitmapError.outOfMemory(bytes: geometry.size.width * 16) }
        pointer = sink
    }

    deinit { halcyon_row_sink_free(pointer) }

    /// Whether every pixel of the result is there: further rows change nothing.
    public var isFull: Bool { halcyon_row_sink_is_full(pointer) }

    /// Takes in the next row: `sourceSize.width` pixels of premultiplied BGRA. A row too many, or of another length,
    /// is passed over.
    public func append(_ pixels: UnsafeRawBufferPointer) {
        guard next < sourceSize.height, pixels.count == sourceSize.width * 4, let base = pixels.baseAddress else {
            return
        }
        halcyon_row_sink_put(pointer, Int32(next), base.assumingMemoryBound(to: UInt8.self))
        next += 1
    }

    /// The bitmap's memory may be another's from now on: whatever still comes is passed over.
    fileprivate func close() {
        next = sourceSize.height
        halcyon_row_sink_close(pointer)
    }
}

extension Bitmap {
    /// Makes the part that `geometry` names, scaled to its size, of rows that `body` puts into the sink.
    ///
    /// The pixels are those that `resampled` makes of the whole source. Memory beside the result: a few rows.
    ///
    /// - Parameter source: pixels of the rows that come.
    /// - Throws: `BitmapError`: `.invalidSource` where the part is empty or not inside the source, or where fewer rows
    ///   came than it needs; what `body` throws.
    public static func reducing(
        _ source: PixelSize, to geometry: ResizeGeometry, isOpaque: Bool, filter: ResizeFilter = .lanczos,
        rows body: (RowSink) throws -> Void
    ) throws -> Bitmap {
        let sides = 1...Bitmap.maximumSide
        guard sides.contains(source.width), sides.contains(source.height), geometry.liesInside(source) else {
            throw BitmapError.invalidSource(source)
        }
        return try Bitmap(size: geometry.size, isOpaque: isOpaque) { output in
            let sink = try RowSink(
                source: source, geometry: geometry, filter: filter, result: .init(output, size: geometry.size))
            defer { sink.close() }
            try body(sink)
            guard sink.isFull else { throw BitmapError.invalidSource(source) }
        }
    }
}
