import HalcyonImage
import HalcyonSystem

/// A reader of rows that are stored uncompressed.
enum BMPRows {
    /// Decodes all rows into the canvas.
    ///
    /// - Throws: `CodecError.damaged` if the rows are truncated, `CancellationError`.
    static func decode(
        _ reader: ByteReader, header: BMPHeader, into canvas: inout BMPCanvas, context: WorkContext
    ) throws {
        let bitCount = canvas.width * header.bits
        let stride = (bitCount + 31) / 32 * 4
        // The last row may come without its padding.
        let length = stride * (canvas.height - 1) + (bitCount + 7) / 8
        var rows = canvas.height
        if !reader.has(length, at: header.pixelOffset) {
            rows = max(0, reader.count - header.pixelOffset) / stride
            guard canvas.allowsMissing, rows > 0 else { throw BMPHeader.damaged("the file was cut off") }
            canvas.clear(from: 0, row: rows)
        }
        let bytes = UnsafeRawBufferPointer(rebasing: reader.bytes[header.pixelOffset...])
        let hasAlpha =
            try header.hasAlpha && usesAlpha(bytes, rows: rows, stride: stride, header: header, context: context)
        for row in 0..<rows {
            if row % 64 == 0 { try context.checkCancellation() }
            let source = UnsafeRawBufferPointer(rebasing: bytes[(row * stride)...])
            let start = canvas.start(ofRow: row)
            let target = UnsafeMutableBufferPointer(rebasing: canvas.pixels[start..<start + canvas.width])
            switch header.bits {
            case 24: copy(source, into: target)
            case 16, 32: unpack(source, header: header, hasAlpha: hasAlpha, into: target)
            default: look(up: source, header: header, into: target)
            }
        }
    }

    /// Returns whether the alpha of any pixel is above zero.
    private static func usesAlpha(
        _ bytes: UnsafeRawBufferPointer, rows: Int, stride: Int, header: BMPHeader, context: WorkContext
    ) throws -> Bool {
        for row in 0..<rows {
            if row % 64 == 0 { try context.checkCancellation() }
            let source = UnsafeRawBufferPointer(rebasing: bytes[(row * stride)...])
            for x in 0..<header.size.width where header.masks[3].value(pixel(x, of: source, bits: header.bits)) > 0 {
                return true
            }
        }
        return false
    }

    private static func pixel(_ x: Int, of row: UnsafeRawBufferPointer, bits: Int) -> Int {
        bits == 16
            ? Int(row.loadUnaligned(fromByteOffset: x * 2, as: UInt16.self))
            : Int(row.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self))
    }

    private static func look(
        up source: UnsafeRawBufferPointer, header: BMPHeader, into target: UnsafeMutableBufferPointer<UInt32>
    ) {
        let bits = header.bits
        let perByte = 8 / bits
        let mask = (1 << bits) - 1
        header.palette.withUnsafeBufferPointer { palette in
            for x in target.indices {
                let shift = (perByte - 1 - x % perByte) * bits
                target[x] = palette[Int(source[x / perByte]) >> shift & mask]
            }
        }
    }

    private static func copy(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableBufferPointer<UInt32>) {
        for x in target.indices {
            let place = x * 3
            let color = UInt32(source[place]) | UInt32(source[place + 1]) << 8 | UInt32(source[place + 2]) << 16
            target[x] = 0xFF00_0000 | color
        }
    }

    private static func unpack(
        _ source: UnsafeRawBufferPointer, header: BMPHeader, hasAlpha: Bool,
        into target: UnsafeMutableBufferPointer<UInt32>
    ) {
        let (red, green, blue, alpha) = (header.masks[0], header.masks[1], header.masks[2], header.masks[3])
        for x in target.indices {
            let pixel = pixel(x, of: source, bits: header.bits)
            let opacity = hasAlpha ? alpha.value(pixel) : 255
            func channel(_ mask: BMPMask) -> UInt32 { UInt32((mask.value(pixel) * opacity + 127) / 255) }
            target[x] = channel(blue) | channel(green) << 8 | channel(red) << 16 | UInt32(opacity) << 24
        }
    }
}
