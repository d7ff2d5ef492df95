import CZlib
import HalcyonImage

/// The header of a PNG: the chunks before its pixels, read without libpng.
struct PNGHeader {
    /// The number of bytes up to the end of IHDR with its checksum.
    static let byteCount = 33

    private var info: ImageInfo
    private var frameCount = 1
    private var playCount = 0

    /// Returns the description of the image.
    ///
    /// - Throws: `CodecError.damaged` if there is no complete and valid IHDR.
    static func info(_ reader: ByteReader, readsOrientation: Bool = true) throws -> ImageInfo {
        var header = try PNGHeader(reader)
        for chunk in PNGChunks(reader) {
            // EXIF behind the pixels would be out of reach of a probe, so it is ignored.
            if chunk.isNamed("IDAT") || chunk.isNamed("IEND") { break }
            guard !chunk.isNamed("PLTE") || chunk.isIntact(in: reader) else { throw damaged("its palette is damaged") }
            header.read(chunk)
        }
        if !readsOrientation { header.info.orientation = .up }
        header.info.size = header.info.orientation.applied(to: header.info.size)
        header.info.frameCount = header.frameCount
        header.info.loopCount = header.frameCount > 1 ? header.playCount : nil
        return header.info
    }

    /// Returns whether the colours of the image can be converted in 16 bits, before they are multiplied by their alpha: a
    /// still image with 16-bit channels or with alpha whose rows arrive one after the other.
    static func isDeep(_ reader: ByteReader) -> Bool {
        guard reader.byte(28) == 0, !isAnimation(reader) else { return false }
        let kind = reader.byte(25)
        return reader.byte(24) == 16 || kind == 4 || kind == 6
            || PNGChunks(reader).prefix { !$0.isNamed("IDAT") }.contains { $0.isNamed("tRNS") }
    }

    /// Returns whether the file is an APNG, which may have a single frame, other than the image that programs without
    /// animations show.
    static func isAnimation(_ reader: ByteReader) -> Bool {
        PNGChunks(reader).prefix { !$0.isNamed("IDAT") }.contains { $0.isNamed("acTL") }
    }

    /// Returns whether the file is there up to its end.
    static func isWhole(_ reader: ByteReader) -> Bool {
        PNGChunks(reader).contains { $0.isNamed("IEND") && reader.has(12, at: $0.offset) }
    }

    /// Returns the number of bytes of all chunks that are neither pixels nor needed to read them.
    static func metadataByteCount(_ reader: ByteReader) -> Int {
        let pixels: [StaticString] = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "acTL", "fcTL", "fdAT"]
        var sum = 0
        var hasProfile = false
        // The chunks are visited one by one, because an array of them would be several times as long as a file of
        // empty chunks.
        for chunk in PNGChunks(reader) {
            // Bytes behind the end chunk do not belong to the file.
            if chunk.isNamed("IEND") { break }
            if pixels.contains(where: chunk.isNamed) { continue }
            sum += chunk.declaredLength
            // Only the first profile is ever unpacked.
            guard !hasProfile, chunk.isNamed("iCCP") else { continue }
            hasProfile = true
            sum += max(0, PNGColor.profileByteCount(chunk.body) - chunk.declaredLength)
        }
        return sum
    }

    private init(_ reader: ByteReader) throws {
        guard reader.matches("IHDR", at: 12), reader.bigEndian32(8) == 13, let width = reader.bigEndian32(16),
            let height = reader.bigEndian32(20), let bits = reader.byte(24), let kind = reader.byte(25)
        else { throw Self.damaged("its header is cut off") }
        // The checksums of pixels are ignored; a changed header or palette would be another image.
        if let checksum = reader.bigEndian32(29) {
            guard checksum == Int(PNGChunks.checksum(reader.part(at: 12, length: 17).bytes)) else {
                throw Self.damaged("its header is damaged")
            }
        }
        let sides = 1...Int(Int32.max)
        guard sides.contains(width), sides.contains(height) else { throw Self.damaged("its size is zero") }
        guard Self.depths[kind]?.contains(bits) == true else {
            throw Self.damaged("its combination of colour type and bit depth is invalid")
        }
        let isGray = kind == 0 || kind == 4
        info = ImageInfo(
            format: .png, size: PixelSize(width, height), hasAlpha: kind == 4 || kind == 6, bitsPerChannel: bits,
            colorSpace: isGray ? .gray : .sRGB)
    }

    /// The valid bit depths by colour type.
    private static let depths: [Int: Set<Int>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]

    private mutating func read(_ chunk: PNGChunks.Chunk) {
        if chunk.isNamed("tRNS") {
            info.hasAlpha = true
        } else if chunk.isNamed("acTL"), let frames = chunk.body.bigEndian32(0), frames > 0 {
            frameCount = frames
            playCount = chunk.body.bigEndian32(4) ?? 0
        } else if chunk.isNamed("iCCP") {
            // The name has at most 79 characters of Latin-1 and ends with a zero.
            let name = chunk.body.part(at: 0, length: 79).bytes.prefix { $0 != 0 }
            let scalars = String.UnicodeScalarView(name.map { Unicode.Scalar($0) })
            info.colorSpace = .icc(ICCProfile.clean(String(scalars)))
        } else if chunk.isNamed("eXIf") {
            info.orientation = Exif.orientation(in: chunk.body)
        }
    }

    private static func damaged(_ reason: String) -> CodecError { .damaged(.png, reason: reason) }
}

/// The chunks of a PNG one after the other, up to the end of the data, whatever their checksums are.
struct PNGChunks: Sequence, IteratorProtocol {
    /// Returns the checksum of a chunk's name and body.
    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(
            truncatingIfNeeded: crc32_z(0, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count))
    }

    struct Chunk {
        /// The data that begins with the chunk's name.
        fileprivate let named: ByteReader
        let declaredLength: Int
        /// The offset of the chunk's length field in the file.
        let offset: Int

        /// The body of the chunk, shorter than declared if the data ends before.
        var body: ByteReader { named.part(at: 4, length: declaredLength) }

        /// The range of the body in the file; longer than `body` if the data ends before.
        var bodyRange: Range<Int> { offset + 8..<offset + 8 + declaredLength }
        /// The offset behind the checksum.
        var end: Int { offset + 12 + declaredLength }

        /// Returns whether the chunk has its checksum, as far as the data goes.
        fileprivate func isIntact(in reader: ByteReader) -> Bool {
            reader.bigEndian32(end - 4).map { $0 == Int(PNGChunks.checksum(named.bytes)) } ?? true
        }

        func isNamed(_ name: StaticString) -> Bool { named.matches(name, at: 0) }

        /// Whether a reader may skip the chunk: its name has four letters, the first one small.
        var isAncillary: Bool {
            let name = named.part(at: 0, length: 4).bytes
            return name.count == 4 && name[0] & 0x20 != 0 && name.allSatisfy { (0x41...0x5A).contains($0 & ~0x20) }
        }
    }

    private let reader: ByteReader
    private var offset: Int

    /// - Parameter offset: the offset of the first chunk to return; that of the file's first chunk by default.
    init(_ reader: ByteReader, from offset: Int = 8) {
        self.reader = reader
        self.offset = offset
    }

    mutating func next() -> Chunk? {
        guard let length = reader.bigEndian32(offset), reader.has(8, at: offset) else { return nil }
        let named = reader.part(at: offset + 4, length: 4 + length)
        // A step is at most 2^32, so the offset cannot overflow before the data ends.
        defer { offset += 12 + length }
        return Chunk(named: named, declaredLength: length, offset: offset)
    }
}
