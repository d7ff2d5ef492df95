import HalcyonCodecs
import HalcyonImage

/// The header of a codestream, up to its ICC profile (ISO/IEC 18181-1, annexes D and E).
struct JXLImageHeader {
    /// A channel beside the colours.
    struct ExtraChannel {
        enum Kind: Int {
            case alpha = 0
            case spotColor = 2
            case black = 4
            case filterArray = 5
        }

        /// Nil for a kind that has no fields of its own and is not drawn.
        var kind: Kind? = .alpha
        var bits = 8
        /// The binary logarithm of its reduction.
        var shift = 0
        var isPremultiplied = false
    }

    struct Animation {
        /// The number of ticks for each second, as a fraction.
        let ticks: (numerator: Int, denominator: Int)
        /// The number of times that it plays; 0 for endlessly.
        let loops: Int
        let hasTimecodes: Bool
    }

    /// The most bytes of a profile as it is stored before its entropy coding. A byte of it may unpack to 36.
    static let maximumProfileBytes = 1 << 20
    /// libjxl makes a plane for each of them.
    static let maximumExtraChannels = 64

    /// The size in pixels as stored.
    private(set) var size = PixelSize(0, 0)
    private(set) var orientation = Orientation.up
    private(set) var previewSize: PixelSize?
    private(set) var animation: Animation?
    private(set) var bits = 8
    private(set) var isFloat = false
    private(set) var extraChannels: [ExtraChannel] = []
    private(set) var isXYB = true
    private(set) var isGray = false
    /// Whether libjxl delivers the colours in sRGB: those of XYB but for what is brighter than white, and others that say nothing.
    private(set) var isDeliveredInSRGB = true
    /// The number of bytes of the ICC profile as it is stored; nil if there is none.
    private(set) var profileBytes: Int?
    /// The number of bytes before the first frame; nil if an ICC profile lies between, whose end only libjxl knows.
    private(set) var byteCount: Int?

    /// Whether a channel of colour has more than 8 bits.
    var isDeep: Bool { isFloat || bits > 8 }
    var alpha: ExtraChannel? { extraChannels.first { $0.kind == .alpha } }
    /// The number of the channel of black ink; nil if there is none, or if it is told by the colours already, as it is in XYB.
    var blackChannel: Int? { isXYB ? nil : extraChannels.firstIndex { $0.kind == .black } }
    /// Whether the colours are inks (CMYK), which libjxl does not convert.
    var isInk: Bool { blackChannel != nil }

    /// Reads the header; nil if not all of it is there.
    ///
    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    static func read(_ codestream: ByteReader) throws -> JXLImageHeader? {
        var header = JXLImageHeader()
        // The signature precedes it.
        var reader = JXLBitReader(codestream, at: 2)
        do {
            try header.readFields(&reader)
        } catch is JXLEntropyReader.Invalid {
            if reader.isOver { return nil }
            throw CodecError.damaged(.jpegXL, reason: "its header is invalid")
        }
        return reader.isOver ? nil : header
    }

    /// Refuses sizes that no limits allow.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func checkSize() throws(CodecError) {
        // As many as the parts of a frame hold, at their usual size of 256 x 256.
        let pixels = JXLFrameHeader.maximumParts << 16
        try DecodeLimits(maximumPixels: pixels, maximumSide: Bitmap.maximumSide).check(size)
    }

    private mutating func readFields(_ reader: inout JXLBitReader) throws {
        size = Self.size(&reader)
        if !reader.flag() { try readMetadata(&reader) }
        guard !reader.isOver else { return }
        readTransform(&reader)
        guard profileBytes != nil else {
            guard reader.alignToByte() else { throw JXLEntropyReader.Invalid() }
            byteCount = reader.byteOffset
            return
        }
        let count = Int(clamping: reader.long())
        guard count <= Self.maximumProfileBytes else {
            throw CodecError.limitExceeded("bytes of the ICC profile", value: count, limit: Self.maximumProfileBytes)
        }
        profileBytes = count
    }

    // MARK: - Sizes

    private static func size(_ reader: inout JXLBitReader) -> PixelSize {
        let isSmall = reader.flag()
        return sized(&reader) { reader in
            isSmall
                ? 8 + 8 * reader.bits(5)
                : reader.number(.bits(9, from: 1), .bits(13, from: 1), .bits(18, from: 1), .bits(30, from: 1))
        }
    }

    private static func previewSize(_ reader: inout JXLBitReader) -> PixelSize {
        let isSmall = reader.flag()
        return sized(&reader) { reader in
            isSmall
                ? 8 * reader.number(.value(16), .value(32), .bits(5, from: 1), .bits(9, from: 33))
                : reader.number(.bits(6, from: 1), .bits(8, from: 65), .bits(10, from: 321), .bits(12, from: 1345))
        }
    }

    /// Reads a height, and a width or the ratio of the sides.
    private static func sized(_ reader: inout JXLBitReader, side: (inout JXLBitReader) -> Int) -> PixelSize {
        let height = side(&reader)
        let ratio = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let number = reader.bits(3)
        guard number > 0 else { return PixelSize(side(&reader), height) }
        return PixelSize(height * ratio[number - 1].0 / ratio[number - 1].1, height)
    }

    // MARK: - Metadata

    private mutating func readMetadata(_ reader: inout JXLBitReader) throws {
        let hasMore = reader.flag()
        if hasMore {
            orientation = Orientation(rawValue: 1 + reader.bits(3)) ?? .up
            if reader.flag() { _ = Self.size(&reader) }
            if reader.flag() { previewSize = Self.previewSize(&reader) }
            if reader.flag() { readAnimation(&reader) }
        }
        (bits, isFloat) = Self.depth(&reader)
        reader.skip(1)
        try readExtraChannels(&reader)
        isXYB = reader.flag()
        try readColor(&reader)
        if hasMore, !reader.flag() { reader.skip(16 + 16 + 1 + 16) }
        try JXLFrameHeader.skipExtensions(&reader)
    }

    private mutating func readAnimation(_ reader: inout JXLBitReader) {
        let numerator = reader.number(.value(100), .value(1000), .bits(10, from: 1), .bits(30, from: 1))
        let denominator = reader.number(.value(1), .value(1001), .bits(8, from: 1), .bits(10, from: 1))
        let loops = reader.number(.value(0), .bits(3), .bits(16), .bits(32))
        animation = Animation(ticks: (numerator, denominator), loops: loops, hasTimecodes: reader.flag())
    }

    private static func depth(_ reader: inout JXLBitReader) -> (bits: Int, isFloat: Bool) {
        guard reader.flag() else {
            return (reader.number(.value(8), .value(10), .value(12), .bits(6, from: 1)), false)
        }
        let bits = reader.number(.value(32), .value(16), .value(24), .bits(6, from: 1))
        reader.skip(4)
        return (bits, true)
    }

    private mutating func readExtraChannels(_ reader: inout JXLBitReader) throws {
        let count = reader.number(.value(0), .value(1), .bits(4, from: 2), .bits(12, from: 1))
        guard count <= Self.maximumExtraChannels else {
            throw CodecError.limitExceeded("extra channels", value: count, limit: Self.maximumExtraChannels)
        }
        for _ in 0..<count { extraChannels.append(try Self.extraChannel(&reader)) }
    }

    private static func extraChannel(_ reader: inout JXLBitReader) throws -> ExtraChannel {
        var channel = ExtraChannel()
        guard !reader.flag() else { return channel }
        channel.kind = ExtraChannel.Kind(rawValue: number(&reader))
        channel.bits = depth(&reader).bits
        channel.shift = reader.number(.value(0), .value(3), .value(4), .bits(3, from: 1))
        guard channel.shift <= 3 else { throw JXLEntropyReader.Invalid() }
        JXLFrameHeader.skipName(&reader)
        switch channel.kind {
        case .alpha: channel.isPremultiplied = reader.flag()
        case .spotColor: reader.skip(4 * 16)
        case .filterArray: _ = reader.number(.value(1), .bits(2), .bits(4, from: 3), .bits(8, from: 19))
        case .black, nil: break
        }
        return channel
    }

    private mutating func readColor(_ reader: inout JXLBitReader) throws {
        guard !reader.flag() else { return }
        let hasProfile = reader.flag()
        let space = Self.number(&reader)
        isGray = space == 1
        isDeliveredInSRGB = isXYB
        guard !hasProfile else {
            profileBytes = 0
            return
        }
        let (isOfXYB, custom) = (space == 2, 2)
        func skipPoint() {
            for _ in 0..<2 {
                _ = reader.number(
                    .bits(19), .bits(19, from: 1 << 19), .bits(20, from: 1 << 20), .bits(21, from: 1 << 21))
            }
        }
        if !isOfXYB, Self.number(&reader) == custom { skipPoint() }
        if !isOfXYB, !isGray, Self.number(&reader) == custom {
            for _ in 0..<3 { skipPoint() }
        }
        if !isOfXYB {
            if reader.flag() {
                reader.skip(24)
            } else if [16, 18].contains(Self.number(&reader)) {
                // PQ and HLG.
                isDeliveredInSRGB = false
            }
        }
        // The rendering intent.
        _ = Self.number(&reader)
    }

    /// Reads the number of a choice.
    private static func number(_ reader: inout JXLBitReader) -> Int {
        reader.number(.value(0), .value(1), .bits(4, from: 2), .bits(6, from: 18))
    }

    /// Reads the weights of the conversion from XYB and of upsampling.
    private func readTransform(_ reader: inout JXLBitReader) {
        guard !reader.flag() else { return }
        if isXYB, !reader.flag() { reader.skip(16 * 16) }
        let mask = reader.bits(3)
        for (bit, count) in [15, 55, 210].enumerated() where mask >> bit & 1 == 1 { reader.skip(count * 16) }
    }
}
