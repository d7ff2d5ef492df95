/// A pixel as QOI counts it: four channels, alpha not premultiplied.
struct QOIPixel: Equatable {
    var red: UInt8 = 0
    var green: UInt8 = 0
    var blue: UInt8 = 0
    var alpha: UInt8 = 0

    /// The place of the pixel among the 64 that both sides remember.
    var slot: Int { (Int(red) &* 3 &+ Int(green) &* 5 &+ Int(blue) &* 7 &+ Int(alpha) &* 11) & 63 }

    /// The pixel as premultiplied BGRA.
    var premultiplied: UInt32 {
        func channel(_ value: UInt8) -> UInt32 { (UInt32(value) * UInt32(alpha) + 127) / 255 }
        return channel(blue) | channel(green) << 8 | channel(red) << 16 | UInt32(alpha) << 24
    }
}

/// The operations of a QOI stream, by their upper bits.
enum QOITag {
    static let slot: UInt8 = 0x00
    static let small: UInt8 = 0x40
    static let luma: UInt8 = 0x80
    static let run: UInt8 = 0xC0
    static let color: UInt8 = 0xFE
    static let colorAndAlpha: UInt8 = 0xFF
    /// The longest run: two more would be the tags of whole pixels.
    static let longestRun = 62
}

/// The pixels of a QOI file in their order.
struct QOIPixels {
    private let bytes: UnsafeRawBufferPointer
    private let hasAlpha: Bool
    private var offset = 0
    private var run = 0
    private var pixel = QOIPixel(alpha: 255)
    private var word: UInt32 = 0xFF00_0000
    private var seen = [QOIPixel](repeating: QOIPixel(), count: 64)

    /// - Parameter bytes: the operations, without the header and the end marker.
    init(_ bytes: UnsafeRawBufferPointer, hasAlpha: Bool) {
        (self.bytes, self.hasAlpha) = (bytes, hasAlpha)
    }

    /// Writes the next pixels, and returns their number: fewer than there is room for if the bytes end before.
    mutating func fill(_ row: UnsafeMutableBufferPointer<UInt32>) -> Int {
        var x = 0
        while x < row.count {
            if run == 0 {
                guard step() else { return x }
            }
            let count = min(run, row.count - x)
            if count == 1 {
                row[x] = word
            } else {
                row[x..<x + count].update(repeating: word)
            }
            x += count
            run -= count
        }
        return x
    }

    /// Reads one operation. Returns false at the end of the bytes.
    private mutating func step() -> Bool {
        guard offset < bytes.count else { return false }
        let tag = bytes[offset]
        offset += 1
        run = 1
        if tag >= QOITag.color {
            guard read(hasAlpha: tag == QOITag.colorAndAlpha) else { return end() }
        } else {
            switch tag & 0xC0 {
            case QOITag.slot: pixel = seen[Int(tag)]
            case QOITag.small:
                pixel.red &+= (tag >> 4 & 3) &- 2
                pixel.green &+= (tag >> 2 & 3) &- 2
                pixel.blue &+= (tag & 3) &- 2
            case QOITag.luma:
                guard offset < bytes.count else { return end() }
                let green = (tag & 63) &- 32
                pixel.red &+= green &+ (bytes[offset] >> 4) &- 8
                pixel.green &+= green
                pixel.blue &+= green &+ (bytes[offset] & 15) &- 8
                offset += 1
            default:
                run = Int(tag & 63) + 1
                seen[pixel.slot] = pixel
                return true
            }
        }
        seen[pixel.slot] = pixel
        word =
            hasAlpha
            ? pixel.premultiplied
            : QOIPixel(red: pixel.red, green: pixel.green, blue: pixel.blue, alpha: 255).premultiplied
        return true
    }

    /// Ends the bytes in the middle of an operation, so that none of it is taken for another one.
    private mutating func end() -> Bool {
        (offset, run) = (bytes.count, 0)
        return false
    }

    private mutating func read(hasAlpha: Bool) -> Bool {
        let count = hasAlpha ? 4 : 3
        guard bytes.count - offset >= count else { return false }
        (pixel.red, pixel.green, pixel.blue) = (bytes[offset], bytes[offset + 1], bytes[offset + 2])
        if hasAlpha { pixel.alpha = bytes[offset + 3] }
        offset += count
        return true
    }
}
