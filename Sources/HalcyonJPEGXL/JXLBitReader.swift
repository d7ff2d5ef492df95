import HalcyonCodecs

/// A reader of the numbers of a JPEG XL codestream, from the lowest bit of each byte on (ISO/IEC 18181-1, annex B). Beyond the end
/// it reads zeros and sets `isOver`.
struct JXLBitReader {
    /// One of the four ranges that a number may be coded in: an offset, and a number of bits that is added to it.
    struct Range {
        let offset: Int
        let bits: Int

        static func value(_ value: Int) -> Range { Range(offset: value, bits: 0) }
        static func bits(_ bits: Int, from offset: Int = 0) -> Range { Range(offset: offset, bits: bits) }
    }

    private let bytes: UnsafeRawBufferPointer
    /// The number of bits that were read.
    private(set) var position: Int
    /// Whether bits beyond the end were read.
    private(set) var isOver = false

    /// - Parameter offset: the byte to begin with.
    init(_ reader: ByteReader, at offset: Int = 0) {
        bytes = reader.bytes
        position = offset * 8
    }

    /// The number of bytes that were read, the last of them in part.
    var byteOffset: Int { (position + 7) / 8 }
    /// The number of bits up to the end.
    var left: Int { max(0, bytes.count * 8 - position) }

    mutating func flag() -> Bool { bits(1) == 1 }

    /// Reads a number of at most 32 bits.
    mutating func bits(_ count: Int) -> Int {
        let value = peek(count)
        skip(count)
        return value
    }

    /// Returns a number of at most 32 bits without reading it; bits beyond the end are zero.
    func peek(_ count: Int) -> Int {
        var (value, shift, byte) = (0, -(position & 7), position >> 3)
        while shift < count, byte < bytes.count {
            let next = Int(bytes[byte])
            value |= shift < 0 ? next >> -shift : next << shift
            (shift, byte) = (shift + 8, byte + 1)
        }
        return value & ((1 << count) - 1)
    }

    mutating func skip(_ count: Int) {
        guard count <= left else {
            (position, isOver) = (bytes.count * 8, true)
            return
        }
        position += count
    }

    /// Skips to the next byte. The bits between must be zero.
    ///
    /// - Returns: whether they are.
    mutating func alignToByte() -> Bool { bits(-position & 7) == 0 }

    /// Reads a number in one of four ranges (`U32`).
    mutating func number(_ first: Range, _ second: Range, _ third: Range, _ fourth: Range) -> Int {
        let range = [first, second, third, fourth][bits(2)]
        return range.offset + bits(range.bits)
    }

    /// Reads a number of up to 64 bits (`U64`).
    mutating func long() -> UInt64 {
        switch bits(2) {
        case 0: return 0
        case 1: return UInt64(1 + bits(4))
        case 2: return UInt64(17 + bits(8))
        default:
            var (value, shift) = (UInt64(bits(12)), UInt64(12))
            while flag() {
                let count = shift < 60 ? 8 : 4
                value |= UInt64(bits(count)) << shift
                guard shift < 60 else { break }
                shift += 8
            }
            return value
        }
    }
}
