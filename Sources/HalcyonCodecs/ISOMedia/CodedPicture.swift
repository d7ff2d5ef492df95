import HalcyonImage

/// The size that an item's coded data declares. The decoder allocates by it, whatever the container declares.
package struct CodedPicture {
    /// The largest size that a sequence header, parameter set or canvas declares; nil if there is none.
    private(set) var size: PixelSize?
    /// The sizes at which H.265 pictures come out of the decoder, without the padding to whole blocks; an empty one for a
    /// parameter set that cannot be read.
    private(set) var shownSizes: Set<PixelSize> = []
    /// The number of pictures that begin in the data.
    private(set) var count = 0
    /// The number of headers that declare a size, whether they can be read or not.
    private(set) var headerCount = 0

    /// The maximum number of headers, more than any real file has: reading millions of them would take too long.
    package static let maximumHeaders = 256

    private mutating func add(_ size: PixelSize) {
        if size.area ?? .max > self.size?.area ?? -1 { self.size = size }
    }

    package mutating func add(_ other: CodedPicture) {
        if let size = other.size { add(size) }
        count += other.count
        headerCount += other.headerCount
        shownSizes.formUnion(other.shownSizes)
    }

    /// Adds the size of the canvas on which a grid or an overlay is assembled, stored in 16 or 32 bits.
    package mutating func readCanvas(_ data: ByteReader, at offset: Int) {
        guard let flags = data.byte(1) else { return }
        let isLong = flags & 1 != 0
        let width = isLong ? data.bigEndian32(offset) : data.bigEndian16(offset)
        let height = isLong ? data.bigEndian32(offset + 4) : data.bigEndian16(offset + 2)
        if let width, let height { add(PixelSize(width, height)) }
    }

    // MARK: H.265

    /// Adds the parameter sets of an `hvcC` box.
    package mutating func readHEVCConfiguration(_ body: ByteReader) {
        guard let arrays = body.byte(22) else { return }
        var offset = 23
        for _ in 0..<arrays {
            guard let units = body.bigEndian16(offset + 1) else { return }
            offset += 3
            for _ in 0..<units {
                guard let length = body.bigEndian16(offset) else { return }
                readUnit(body.part(at: offset + 2, length: length))
                offset += 2 + length
            }
        }
    }

    /// Adds the NAL units of an item's data, each preceded by its length in four bytes, as libheif reads them.
    package mutating func readHEVCData(_ data: ByteReader) {
        var offset = 0
        while let length = data.bigEndian32(offset) {
            readUnit(data.part(at: offset + 4, length: length))
            offset += 4 + length
        }
    }

    private mutating func readUnit(_ unit: ByteReader) {
        guard let head = unit.bigEndian16(0) else { return }
        let (type, layer) = (head >> 9 & 63, head >> 3 & 63)
        // The decoder skips other layers.
        guard layer == 0 else { return }
        if type == 33 {
            headerCount += 1
            guard headerCount <= Self.maximumHeaders else { return }
            let sizes = Self.parameterSetSizes(unit.part(at: 2, length: unit.count))
            if let sizes { add(sizes.coded) }
            shownSizes.insert(sizes?.shown ?? PixelSize(0, 0))
        } else if type < 32, (unit.byte(2) ?? 0) & 0x80 != 0 {
            // The first slice of a picture.
            count += 1
        }
    }

    private static func parameterSetSizes(_ payload: ByteReader) -> (coded: PixelSize, shown: PixelSize)? {
        var bits = BitReader(payload, skipsPrevention: true)
        bits.skip(4)
        let subLayers = bits.bits(3)
        bits.skip(1 + 88 + 8)
        let present = (0..<subLayers).map { _ in (profile: bits.flag(), level: bits.flag()) }
        if subLayers > 0 { bits.skip((8 - subLayers) * 2) }
        for layer in present { bits.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
        bits.skipVariable()
        let chroma = bits.expGolomb()
        // The flag for separate colour planes.
        if chroma == 3 { bits.skip(1) }
        let coded = PixelSize(bits.expGolomb(), bits.expGolomb())
        var shown = coded
        if bits.flag() {
            // Left, right, top and bottom, in samples of colour.
            let cuts = (0..<4).map { _ in bits.expGolomb() }
            shown.width -= (cuts[0] + cuts[1]) * ([1, 2].contains(chroma) ? 2 : 1)
            shown.height -= (cuts[2] + cuts[3]) * (chroma == 1 ? 2 : 1)
        }
        return bits.isOver ? nil : (coded, shown)
    }

    // MARK: AV1

    /// Adds the sequence header of an `av1C` box.
    package mutating func readAV1Configuration(_ body: ByteReader) {
        readAV1Data(body.part(at: 4, length: body.count))
    }

    /// Adds the units (OBUs) of an item's data.
    package mutating func readAV1Data(_ data: ByteReader) {
        var offset = 0
        while let head = data.byte(offset) {
            let (type, hasExtension, hasSize) = (head >> 3 & 15, head & 4 != 0, head & 2 != 0)
            offset += hasExtension ? 2 : 1
            var length = data.count - offset
            if hasSize {
                guard let (value, bytes) = Self.leb128(data, at: offset) else { return }
                (length, offset) = (value, offset + bytes)
            }
            // A frame, or the header of one; a redundant copy of a header does not count.
            if type == 3 || type == 6 { count += 1 }
            if type == 1 { headerCount += 1 }
            if type == 1, headerCount <= Self.maximumHeaders,
                let size = Self.sequenceSize(data.part(at: offset, length: length))
            {
                add(size)
            }
            offset += max(0, length)
        }
    }

    private static func leb128(_ data: ByteReader, at offset: Int) -> (value: Int, bytes: Int)? {
        var value = 0
        for index in 0..<8 {
            guard let byte = data.byte(offset + index) else { return nil }
            value |= (byte & 127) << (index * 7)
            if byte & 128 == 0 { return (min(value, Int(UInt32.max)), index + 1) }
        }
        return nil
    }

    private static func sequenceSize(_ payload: ByteReader) -> PixelSize? {
        var bits = BitReader(payload)
        bits.skip(4)
        if bits.flag() {
            // A still picture with a reduced header has only its level here.
            bits.skip(5)
        } else {
            skipOperatingPoints(&bits)
        }
        let (width, height) = (bits.bits(4) + 1, bits.bits(4) + 1)
        let size = PixelSize(bits.bits(width) + 1, bits.bits(height) + 1)
        return bits.isOver ? nil : size
    }

    private static func skipOperatingPoints(_ bits: inout BitReader) {
        var delayBits: Int?
        if bits.flag() {
            bits.skip(64)
            if bits.flag() { bits.skipVariable() }
            if bits.flag() {
                delayBits = bits.bits(5) + 1
                bits.skip(32 + 5 + 5)
            }
        }
        let showsDelay = bits.flag()
        for _ in 0...bits.bits(5) {
            bits.skip(12)
            if bits.bits(5) > 7 { bits.skip(1) }
            if let delayBits, bits.flag() { bits.skip(delayBits * 2 + 1) }
            if showsDelay, bits.flag() { bits.skip(4) }
        }
    }
}
