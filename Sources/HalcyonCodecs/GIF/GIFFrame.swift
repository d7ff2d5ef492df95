import HalcyonImage
import HalcyonSystem

/// One frame of a GIF: its place, its colours, and the pixels behind them.
struct GIFFrame {
    private var left: Int
    private var top: Int
    private let size: PixelSize
    private let isInterlaced: Bool
    private let isTransparent: Bool
    /// The premultiplied colour of each index, of which codes can name 2,048. Indices beyond the file's table are
    /// opaque black. In a file without any table all are, as in Chrome and Firefox.
    private let palette: [UInt32]
    private let rows: GIFRows

    static let cutOff = CodecError.damaged(.gif, reason: "the file was cut off")

    /// Reads the descriptor and the table of a frame.
    ///
    /// - Throws: `CodecError.damaged`.
    init(_ entry: GIFFrameEntry, in reader: ByteReader) throws {
        let start = entry.offset + 1
        guard let left = reader.littleEndian16(start), let top = reader.littleEndian16(start + 2),
            let width = reader.littleEndian16(start + 4), let height = reader.littleEndian16(start + 6),
            let flags = reader.byte(start + 8), let fileFlags = reader.byte(10)
        else { throw Self.cutOff }
        (self.left, self.top, size) = (left, top, PixelSize(width, height))
        guard !size.isEmpty else { throw CodecError.damaged(.gif, reason: "a frame is empty") }
        isInterlaced = flags & 0x40 != 0
        isTransparent = entry.transparentIndex != nil
        let table = GIFHeader.paletteByteCount(flags)
        palette = Self.palette(
            table > 0
                ? reader.part(at: start + 9, length: table)
                : reader.part(at: 13, length: GIFHeader.paletteByteCount(fileFlags)),
            transparent: entry.transparentIndex)
        rows = try GIFRows(reader, at: start + 9 + table)
    }

    private static func palette(_ table: ByteReader, transparent: Int?) -> [UInt32] {
        // As little-endian words the pixels are blue, green, red, alpha in memory.
        var palette = [UInt32](repeating: 0xFF00_0000, count: 1 << 11)
        for index in 0..<table.count / 3 {
            let color = table.bytes[index * 3..<index * 3 + 3]
            palette[index] = color.reduce(0xFF) { $0 << 8 | UInt32($1) }
        }
        if let transparent { palette[transparent] = 0 }
        return palette
    }

    /// The frame moved to the corner of the canvas, to be drawn alone.
    var atOrigin: GIFFrame {
        var frame = self
        (frame.left, frame.top) = (0, 0)
        return frame
    }

    /// Whether all pixels are there. Cost: unpacking them.
    var isComplete: Bool { (try? unpack { _, _ in }) == size.area }

    /// Decodes the frame's pixels onto a canvas; pixels outside it are dropped.
    ///
    /// - Parameter allowsMissing: whether the data may end before the frame is complete. Pixels that are missing are
    ///   transparent, but for rows of an interlaced frame, which repeat the one above.
    /// - Throws: `CodecError.damaged` if the data is invalid, or ends before the frame is complete.
    func draw(on canvas: PixelSize, allowsMissing: Bool = false, context: WorkContext) throws -> Bitmap {
        let isWhole = left == 0 && top == 0 && size.width >= canvas.width && size.height >= canvas.height
        return try Bitmap(size: canvas) { bytes in
            if !isWhole || allowsMissing { bytes.initializeMemory(as: UInt8.self, repeating: 0) }
            let pixels = bytes.bindMemory(to: UInt32.self)
            let places = places
            let count = try unpack { index, line in
                if index % 64 == 0 { try context.checkCancellation() }
                place(line, at: top + places[index], in: pixels, canvas: canvas)
            }
            let isComplete = count == size.area
            guard isComplete || allowsMissing && count > 0 else { throw Self.cutOff }
            if !isComplete, isInterlaced { fill(behind: places.prefix(count / size.width), pixels, canvas: canvas) }
            return isComplete && isWhole && !isTransparent
        }
    }

    /// Repeats each row of an interlaced frame up to the next one that is there.
    private func fill(
        behind there: ArraySlice<Int>, _ pixels: UnsafeMutableBufferPointer<UInt32>, canvas: PixelSize
    ) {
        let there = Set(there)
        for row in 0..<max(0, min(size.height, canvas.height - top))
        where !there.contains(row) && there.contains(row & ~7) {
            let start = (top + row) * canvas.width
            let above = UnsafeBufferPointer(rebasing: pixels[start - canvas.width..<start])
            _ = UnsafeMutableBufferPointer(rebasing: pixels[start..<start + canvas.width])
                .update(fromContentsOf: above)
        }
    }

    private func unpack(_ body: (Int, UnsafeBufferPointer<UInt32>) throws -> Void) throws -> Int {
        var rows = rows
        return try palette.withUnsafeBufferPointer {
            try rows.unpack(size.height, width: size.width, palette: $0, body)
        }
    }

    private func place(
        _ line: UnsafeBufferPointer<UInt32>, at y: Int, in pixels: UnsafeMutableBufferPointer<UInt32>,
        canvas: PixelSize
    ) {
        let visible = min(line.count, canvas.width - left)
        guard y < canvas.height, visible > 0 else { return }
        let start = y * canvas.width + left
        _ = UnsafeMutableBufferPointer(rebasing: pixels[start..<start + visible])
            .update(fromContentsOf: UnsafeBufferPointer(rebasing: line[..<visible]))
    }

    /// The row numbers in the order in which the file stores them.
    private var places: [Int] {
        guard isInterlaced else { return Array(0..<size.height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: size.height, by: $1)) }
    }
}
