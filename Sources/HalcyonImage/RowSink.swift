import CHalcyonPixels
import HalcyonSystem

/// A sink that receives the rows of an image one after the other and scales them to a bitmap of the requested part and
/// size.
///
/// Decoders that need not hold their whole image in memory write to it. Use it from one thread at a time.
public final class RowSink {
    /// The size in pixels of the image whose rows are appended.
    public let sourceSize: PixelSize
    /// The C sink, for C code that puts rows itself with `halcyon_row_sink_put`; nil if the rows are passed on.
    package let pointer: OpaquePointer?
    /// Receives the rows as they are.
    private let receive: ((UnsafeRawBufferPointer) -> Void)?
    /// Returns memory for so many bytes of the next row.
    private let room: ((Int) -> UnsafeMutableRawPointer?)?
    private var next = 0

    /// Creates a sink that passes each row on, and makes no bitmap.
    ///
    /// - Parameter room: returns memory in which a decoder may make so many bytes of the next row, which is then passed on from
    ///   there; nil if there is none.
    package init(
        passing source: PixelSize, to receive: @escaping (UnsafeRawBufferPointer) -> Void,
        room: @escaping (Int) -> UnsafeMutableRawPointer? = { _ in nil }
    ) {
        (sourceSize, pointer, self.receive, self.room) = (source, nil, receive, room)
    }

    /// Returns memory for the next row, for C code that puts it then; nil if there is none.
    package func place() -> UnsafeMutableRawPointer? { next < sourceSize.height ? room?(sourceSize.width * 4) : nil }

    fileprivate init(
        source: PixelSize, geometry: ResizeGeometry, filter: ResizeFilter, light: ResizeLight, result: halcyon_bitmap
    ) throws {
        sourceSize = source
        let sink = halcyon_row_sink_create(
            Int32(clamping: source.width), Int32(clamping: source.height), geometry.region, result, filter.kernel,
            light.kernel)
        guard let sink else { throw BitmapError.outOfMemory(bytes: geometry.size.width * 16) }
        (pointer, receive, room) = (sink, nil, nil)
    }

    deinit { if let pointer { halcyon_row_sink_free(pointer) } }

    /// Whether every pixel of the result is complete: further rows change nothing.
    public var isFull: Bool { pointer.map(halcyon_row_sink_is_full) ?? (next == sourceSize.height) }

    /// Appends the next row: `sourceSize.width` pixels of premultiplied BGRA. Rows beyond the last one, and rows of another
    /// length, are ignored.
    public func append(_ pixels: UnsafeRawBufferPointer) {
        guard next < sourceSize.height, pixels.count == sourceSize.width * 4, let base = pixels.baseAddress else {
            return
        }
        if let pointer { halcyon_row_sink_put(pointer, Int32(next), base.assumingMemoryBound(to: UInt8.self)) }
        receive?(pixels)
        next += 1
    }

    /// Ends the use of the bitmap's memory, which others may read from now on: further rows are ignored.
    fileprivate func close() {
        next = sourceSize.height
        if let pointer { halcyon_row_sink_close(pointer) }
    }
}

extension Bitmap {
    /// Appends all rows to a sink for a bitmap of this size.
    ///
    /// - Throws: `CancellationError` within 64 rows of the cancellation.
    package func passRows(to sink: RowSink, context: WorkContext) throws {
        try withPixels { pixels in
            for row in 0..<height {
                if row % 64 == 0 { try context.checkCancellation() }
                sink.append(UnsafeRawBufferPointer(rebasing: pixels[row * bytesPerRow..<row * bytesPerRow + width * 4]))
            }
        }
    }

    /// Makes a bitmap of the part that `geometry` names, scaled to its size, from rows that `body` appends to the sink.
    ///
    /// The pixels are those that `resampled` makes of the whole source. Memory beyond the result: a few rows.
    ///
    /// - Parameter source: the size in pixels of the image whose rows are appended.
    /// - Throws: `BitmapError.invalidSource` if the part is empty or not inside the source, or if fewer rows were appended
    ///   than it needs; other `BitmapError`s; any error that `body` throws.
    package static func reducing(
        _ source: PixelSize, to geometry: ResizeGeometry, isOpaque: Bool, filter: ResizeFilter = .lanczos,
        light: ResizeLight = .encoded, rows body: (RowSink) throws -> Void
    ) throws -> Bitmap {
        let sides = 1...Bitmap.maximumSide
        guard sides.contains(source.width), sides.contains(source.height), geometry.liesInside(source) else {
            throw BitmapError.invalidSource(source)
        }
        return try Bitmap(size: geometry.size, isOpaque: isOpaque) { output in
            let sink = try RowSink(
                source: source, geometry: geometry, filter: filter, light: light,
                result: .init(output, size: geometry.size))
            defer { sink.close() }
            try body(sink)
            guard sink.isFull else { throw BitmapError.invalidSource(source) }
        }
    }
}
