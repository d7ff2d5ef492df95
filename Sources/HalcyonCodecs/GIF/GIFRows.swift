import HalcyonImage
import HalcyonSystem

/// The pixels of a frame, unpacked from its sub-blocks (LZW) row by row.
///
/// Needs no more than the pixels: neither the end code nor the terminator behind the sub-blocks. giflib needs both,
/// and refuses codes of colours beyond 8 bits. Time is linear in the pixels and the bytes; memory is 30 KiB and two rows.
struct GIFRows {
    /// The longest code has 12 bits.
    private static let codes = 1 << 12
    /// Codes of 12 bits, of which two are the clear and the end code.
    private static let widestColor = 11

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    /// The bytes that are left of the sub-block.
    private var blockLeft = 0
    private var bits: UInt64 = 0
    private var bitCount = 0
    /// The number of bits of a colour index.
    private let colorBits: Int

    /// - Parameter offset: that of the byte before the sub-blocks, the bits of a colour index.
    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader, at offset: Int) throws {
        guard let colorBits = reader.byte(offset) else { throw GIFFrame.cutOff }
        guard colorBits <= Self.widestColor else {
            throw CodecError.damaged(.gif, reason: "its colour indices have \(colorBits) bits")
        }
        self.colorBits = colorBits
        bytes = reader.bytes
        self.offset = offset + 1
    }

    /// Unpacks at most `count` rows of `width` pixels. The last one is shorter if the data ends within it.
    ///
    /// - Parameters:
    ///   - palette: the pixel of each index that a code can stand for, `1 << 11` of them.
    ///   - body: called with the number of the row, in the order of the file, and its pixels.
    /// - Returns: the number of pixels, less than those of all rows if the data ends before.
    /// - Throws: `CodecError.damaged` for a code that has no meaning, and the errors of `body`.
    mutating func unpack(
        _ count: Int, width: Int, palette: UnsafeBufferPointer<UInt32>,
        _ body: (Int, UnsafeBufferPointer<UInt32>) throws -> Void
    ) throws -> Int {
        // The longest text of a code is shorter than the number of codes.
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: width + 2 * Self.codes) { room in
            try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.codes) { links in
                try withUnsafeTemporaryAllocation(of: UInt16.self, capacity: Self.codes) { lengths in
                    lengths.initialize(repeating: 1)
                    links.initialize(repeating: 0)
                    var texts = GIFTexts(links: links, lengths: lengths, colorBits: colorBits, palette: palette)
                    return try unpack(count, width: width, room: room, texts: &texts, body)
                }
            }
        }
    }

    private mutating func unpack(
        _ count: Int, width: Int, room: UnsafeMutableBufferPointer<UInt32>, texts: inout GIFTexts,
        _ body: (Int, UnsafeBufferPointer<UInt32>) throws -> Void
    ) throws -> Int {
        var (row, start, end) = (0, 0, 0)
        while let code = next(texts.codeBits) {
            if code == texts.clear {
                texts.reset()
                continue
            }
            if code == texts.clear + 1 { break }
            guard let length = texts.append(code, to: room, at: end) else {
                throw CodecError.damaged(.gif, reason: "its pixels are damaged")
            }
            end += length
            while end - start >= width {
                try body(row, UnsafeBufferPointer(rebasing: room[start..<start + width]))
                start += width
                row += 1
                guard row < count else { return count * width }
            }
            guard end + Self.codes > room.count else { continue }
            if let base = room.baseAddress { base.update(from: base + start, count: end - start) }
            (start, end) = (0, end - start)
        }
        if end > start { try body(row, UnsafeBufferPointer(rebasing: room[start..<end])) }
        return row * width + end - start
    }

    /// Returns the next code; nil at the end of the sub-blocks or of the file.
    private mutating func next(_ count: Int) -> Int? {
        while bitCount < count {
            if blockLeft == 0 {
                guard offset < bytes.count, bytes[offset] > 0 else { return nil }
                blockLeft = Int(bytes[offset])
                offset += 1
            }
            if blockLeft >= 4, bytes.count - offset >= 4 {
                let word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                bits |= UInt64(word) << UInt64(bitCount)
                (offset, blockLeft, bitCount) = (offset + 4, blockLeft - 4, bitCount + 32)
            } else {
                guard offset < bytes.count else { return nil }
                bits |= UInt64(bytes[offset]) << UInt64(bitCount)
                (offset, blockLeft, bitCount) = (offset + 1, blockLeft - 1, bitCount + 8)
            }
        }
        defer {
            bits >>= UInt64(count)
            bitCount -= count
        }
        return Int(truncatingIfNeeded: bits & ((1 << UInt64(count)) - 1))
    }
}

/// The texts of pixels that codes stand for. That of each new code is the one of the code before it and one pixel.
struct GIFTexts {
    /// For each code, the one whose text it continues, and above 12 bits the index of its last pixel.
    private let links: UnsafeMutableBufferPointer<UInt32>
    private let lengths: UnsafeMutableBufferPointer<UInt16>
    private let palette: UnsafeBufferPointer<UInt32>
    private let colorBits: Int
    /// The code that empties the table. The one behind it ends the pixels.
    let clear: Int
    private(set) var codeBits: Int
    /// The code that gets the next text.
    private var free: Int
    private var former: Int?

    init(
        links: UnsafeMutableBufferPointer<UInt32>, lengths: UnsafeMutableBufferPointer<UInt16>, colorBits: Int,
        palette: UnsafeBufferPointer<UInt32>
    ) {
        (self.links, self.lengths, self.palette, self.colorBits) = (links, lengths, palette, colorBits)
        clear = 1 << colorBits
        (codeBits, free) = (colorBits + 1, clear + 2)
    }

    mutating func reset() { (codeBits, free, former) = (colorBits + 1, clear + 2, nil) }

    /// Writes the text of a code other than the two special ones, and adds a text to the table.
    ///
    /// - Returns: the length of the text; nil if the code has none.
    mutating func append(_ code: Int, to room: UnsafeMutableBufferPointer<UInt32>, at start: Int) -> Int? {
        guard code < free else { return code == free ? repeated(to: room, at: start) : nil }
        let length = Int(lengths[code])
        add(write(code, length, to: room, at: start))
        former = code
        return length
    }

    /// Writes the text that the code itself adds: the one before, and its first pixel again.
    private mutating func repeated(to room: UnsafeMutableBufferPointer<UInt32>, at start: Int) -> Int? {
        guard let last = former, free < links.count else { return nil }
        let (code, length) = (free, Int(lengths[last]))
        let first = write(last, length, to: room, at: start)
        room[start + length] = palette[first]
        add(first)
        former = code
        return length + 1
    }

    /// Writes a text from its end.
    ///
    /// - Returns: the index of its first pixel.
    private func write(_ code: Int, _ length: Int, to room: UnsafeMutableBufferPointer<UInt32>, at start: Int)
        -> Int
    {
        var (code, place) = (code, start + length - 1)
        while code >= clear {
            let link = links[code]
            room[place] = palette[Int(link >> 12)]
            code = Int(link & 0xFFF)
            place -= 1
        }
        room[place] = palette[code]
        return code
    }

    private mutating func add(_ first: Int) {
        if let former, free < links.count {
            links[free] = UInt32(former | first << 12)
            lengths[free] = lengths[former] + 1
            free += 1
        }
        if free >= 1 << codeBits, codeBits < 12 { codeBits += 1 }
    }
}
