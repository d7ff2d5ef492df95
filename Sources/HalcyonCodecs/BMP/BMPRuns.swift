import HalcyonImage
import HalcyonSystem

/// A reader of rows that are stored as runs of one colour, or of two alternating colours.
struct BMPRuns {
    private let reader: ByteReader
    private let header: BMPHeader
    private var offset: Int
    private var x = 0
    private var row = 0

    /// Decodes all runs into the canvas.
    ///
    /// - Throws: `CodecError.damaged` if the runs end before the image does, `CancellationError`.
    static func decode(
        _ reader: ByteReader, header: BMPHeader, into canvas: inout BMPCanvas, context: WorkContext
    ) throws {
        canvas.pixels.update(repeating: header.palette[0])
        var runs = BMPRuns(reader: reader, header: header, offset: header.pixelOffset)
        var steps = 0
        // After the last row nothing more is needed, not even the end marker.
        while runs.row < canvas.height {
            if steps % 4096 == 0 { try context.checkCancellation() }
            steps += 1
            do {
                guard try runs.readRun(into: canvas) else { return }
            } catch {
                // The only error is the end of the file.
                guard canvas.allowsMissing, runs.x > 0 || runs.row > 0 else { throw error }
                return canvas.clear(from: runs.x, row: runs.row)
            }
        }
    }

    private init(reader: ByteReader, header: BMPHeader, offset: Int) {
        self.reader = reader
        self.header = header
        self.offset = offset
    }

    /// Reads one run, escape or group of literals.
    ///
    /// - Returns: false at the end marker.
    private mutating func readRun(into canvas: BMPCanvas) throws -> Bool {
        let (count, value) = (try next(), try next())
        if count > 0 {
            for index in 0..<count { put(color(of: value, at: index), into: canvas) }
            return true
        }
        switch value {
        case 0:
            x = 0
            row += 1
        case 1: return false
        case 2:
            x += try next()
            row += try next()
        default: try readLiterals(value, into: canvas)
        }
        return true
    }

    private mutating func readLiterals(_ count: Int, into canvas: BMPCanvas) throws {
        let perByte = 8 / header.bits
        var byte = 0
        for index in 0..<count {
            if index % perByte == 0 { byte = try next() }
            put(color(of: byte, at: index), into: canvas)
        }
        // Literals are padded to whole 16-bit words.
        let bytes = (count + perByte - 1) / perByte
        if bytes % 2 == 1 { _ = try next() }
    }

    private func color(of byte: Int, at index: Int) -> UInt32 {
        guard header.bits == 4 else { return header.palette[byte] }
        return header.palette[index % 2 == 0 ? byte >> 4 : byte & 15]
    }

    /// Writes one pixel and advances. Pixels outside the image are dropped.
    private mutating func put(_ color: UInt32, into canvas: BMPCanvas) {
        if x < canvas.width, row < canvas.height { canvas.pixels[canvas.start(ofRow: row) + x] = color }
        x += 1
    }

    private mutating func next() throws -> Int {
        guard let byte = reader.byte(offset) else { throw BMPHeader.damaged("the file was cut off") }
        offset += 1
        return byte
    }
}
