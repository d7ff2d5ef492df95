import HalcyonImage

/// The contents of the headers of a BMP.
struct BMPHeader {
    let size: PixelSize
    let isTopDown: Bool
    let bits: Int
    private let compression: Int
    /// The offset in bytes at which the pixels begin.
    let pixelOffset: Int
    /// The palette: 2 to the power of `bits` opaque pixels for up to 8 bits, otherwise empty.
    let palette: [UInt32]
    /// The masks of red, green, blue and alpha for 16 and 32 bits, otherwise empty.
    let masks: [BMPMask]
    let hasAlpha: Bool

    private static let (plain, runs8, runs4, fields, alphaFields) = (0, 1, 2, 3, 6)

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        guard let offset = reader.littleEndian32(10), let header = reader.littleEndian32(14),
            reader.has(header, at: 14), header >= 12
        else { throw Self.damaged("its header is cut off") }
        let isOld = header == 12
        let width = isOld ? reader.littleEndian16(18) : reader.littleEndian32(18)
        let height = isOld ? reader.littleEndian16(20) : reader.littleEndian32(22)
        guard let width, let height, let bits = reader.littleEndian16(isOld ? 24 : 28) else {
            throw Self.damaged("its header is cut off")
        }
        let signed = isOld ? height : Int(Int32(truncatingIfNeeded: height))
        isTopDown = signed < 0
        size = PixelSize(width, abs(signed))
        guard (1...Int(Int32.max)).contains(width), signed != 0 else { throw Self.damaged("its size is zero") }
        compression = header >= 40 ? reader.littleEndian32(30) ?? 0 : 0
        self.bits = bits
        pixelOffset = offset
        masks = try Self.masks(reader, header: header, bits: bits, compression: compression)
        hasAlpha = masks.last.map { $0.width > 0 } ?? false
        let isSeparate = header == 40 && [Self.fields, Self.alphaFields].contains(compression)
        let start = 14 + header + (isSeparate ? (compression == Self.fields ? 12 : 16) : 0)
        palette =
            bits <= 8
            ? Self.palette(reader.part(at: start, length: max(0, offset - start)), bits: bits, entry: isOld ? 3 : 4)
            : []
        try checkKind()
    }

    private func checkKind() throws {
        let isKnown =
            switch compression {
            case Self.plain: [1, 2, 4, 8, 16, 24, 32].contains(bits)
            case Self.runs8: bits == 8
            case Self.runs4: bits == 4
            case Self.fields, Self.alphaFields: bits == 16 || bits == 32
            default: false
            }
        guard isKnown else {
            throw Self.damaged("it is of a kind that is not read: \(bits) bits, compression \(compression)")
        }
    }

    var isRunLengthCoded: Bool { compression == Self.runs8 || compression == Self.runs4 }

    var info: ImageInfo {
        let width = masks.map(\.width).max() ?? 8
        return ImageInfo(
            format: .bmp, size: size, hasAlpha: hasAlpha, bitsPerChannel: min(max(width, 1), 16))
    }

    private static func masks(_ reader: ByteReader, header: Int, bits: Int, compression: Int) throws -> [BMPMask] {
        guard bits == 16 || bits == 32 else { return [] }
        guard compression == fields || compression == alphaFields else {
            let usual = bits == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0]
            return usual.map { BMPMask($0) }
        }
        // The masks follow a header of 40 bytes, and have the same offsets inside a longer one.
        let colors = [54, 58, 62].compactMap { reader.littleEndian32($0) }
        guard colors.count == 3 else { throw damaged("its header is cut off") }
        let hasAlphaMask = header >= 56 || compression == alphaFields
        return (colors + [hasAlphaMask ? reader.littleEndian32(66) ?? 0 : 0]).map { BMPMask($0) }
    }

    /// Returns the palette. Entries that the file leaves out are black.
    private static func palette(_ reader: ByteReader, bits: Int, entry: Int) -> [UInt32] {
        (0..<(1 << bits)).map { index in
            let color = reader.littleEndian24(index * entry) ?? 0
            // As little-endian words the pixels are blue, green, red, alpha in memory.
            return 0xFF00_0000 | UInt32(color)
        }
    }

    static func damaged(_ reason: String) -> CodecError { .damaged(.bmp, reason: reason) }
}

/// The bits of one channel in a pixel.
struct BMPMask {
    private let shift: Int
    /// The largest value of the channel; 0 if the channel is absent.
    private let top: Int
    /// The 8-bit value of each channel value, for channels of at most 10 bits; otherwise empty.
    private let table: [UInt8]

    init(_ mask: Int) {
        let shift = mask == 0 ? 0 : mask.trailingZeroBitCount
        let top = mask >> shift
        self.shift = shift
        self.top = top
        table = top > 0 && top < 1024 ? (0...top).map { Self.scaled($0, top) } : []
    }

    /// The number of bits.
    var width: Int { Int.bitWidth - top.leadingZeroBitCount }

    /// Returns the channel of a pixel, rounded to the nearest of 8 bits.
    func value(_ pixel: Int) -> Int {
        let value = pixel >> shift & top
        return Int(table.isEmpty ? Self.scaled(value, top) : table[value])
    }

    private static func scaled(_ value: Int, _ top: Int) -> UInt8 {
        top == 0 ? 0 : UInt8((value * 255 + top / 2) / top)
    }
}
