import HalcyonCodecs
import HalcyonImage

/// The header of a frame in a codestream, with its table of contents (ISO/IEC 18181-1, annexes F and G).
///
/// libjxl allocates by it without a limit, and ends the process where it gets no memory, so it is read and checked here first.
struct JXLFrameHeader {
    enum Kind: Int {
        case regular
        /// An eighth of another frame.
        case lowFrequency
        /// Drawn upon by other frames only.
        case reference
        case skipProgressive
    }

    /// The most parts that libjxl reads.
    static let maximumParts = 1 << 16
    private static let flagLowFrequencyFrame: UInt64 = 1 << 5

    private(set) var kind = Kind.regular
    /// The size in pixels that its data unpacks to.
    private(set) var size: PixelSize
    /// The duration in ticks of the image's clock.
    private(set) var duration = 0
    private(set) var isLast = true
    /// The place in which it is kept; 0 may be none.
    private(set) var savedAs = 0
    /// Whether it covers the canvas and replaces it.
    private(set) var replacesAll = true
    /// The number of passes, each of which refines it.
    private(set) var passes = 1
    /// The number of bytes of the header.
    private(set) var headerBytes = 0
    /// The number of bytes of the parts that follow the header.
    private(set) var bodyBytes = 0

    /// Whether a channel has fewer values than another one.
    private(set) var isSubsampled = false
    /// Whether no part is stored before those that it depends on.
    private(set) var comesInTurn = true
    /// The squares of the last frame, if it is stored in full detail alone, and each of them is final once it is there; otherwise nil.
    private(set) var groups: JXLGroups?
    /// The number of bytes of the parts that hold it at an eighth of its detail.
    private var coarseBytes = 0
    private var isModular = false
    /// Whether the channels are luma and chroma, of a file that is not in XYB.
    private(set) var isYCbCr = false
    private var usesLowFrequencyFrame = false
    private var horizontalShift = 0
    private var verticalShift = 0
    private var upsampling = 1
    private var groupSizeShift = 1
    private var lowFrequencyLevel = 0
    private var isPartial = false
    private var replacesColour = true
    /// Whether pixels are smoothed with their neighbours.
    private var isFiltered = true

    /// Whether it is drawn on the canvas, all of which is kept then for other frames.
    var isDrawn: Bool { kind == .regular || kind == .skipProgressive }

    /// Whether it is shown for a time, or ends the image.
    var isShown: Bool { isLast || duration > 0 }

    /// Whether libjxl can draw all of it before it is complete: it is not drawn upon another, and not stored in full detail alone.
    var canBeDrawnInPart: Bool { kind == .regular && replacesAll && (!isModular || isCoarseFirst) }

    /// Whether an eighth of its detail is stored before the rest, and not only what all of its parts share.
    private var isCoarseFirst: Bool { coarseBytes > bodyBytes / 512 }

    /// Whether it may hold the coefficients of a JPEG.
    var mayBeOfJPEG: Bool {
        kind == .regular && isLast && replacesAll && !isModular && !usesLowFrequencyFrame && upsampling == 1
    }

    /// The number of the place in which it is kept for other frames; nil if it is not kept.
    var slot: Int? {
        if kind == .lowFrequency { return 4 + lowFrequencyLevel }
        return !isLast && (duration == 0 || savedAs != 0) ? savedAs : nil
    }

    /// The most bytes that libjxl takes for each channel of a pixel while it decodes the frame.
    ///
    /// A frame that is not of transformed blocks is kept as a whole, twice where it is transformed; so is one with extra channels,
    /// which are not. Coefficients are kept if they come in several passes. Measured with libjxl 0.7: 8, 9, 6 and 1.
    func channelBytes(hasExtraChannels: Bool) -> Int { isModular || hasExtraChannels ? 12 : passes > 1 ? 8 : 2 }

    /// Reads the header of the frame at an offset; nil if not all of it is there.
    ///
    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    static func read(
        _ codestream: ByteReader, at offset: Int, of image: JXLImageHeader, isPreview: Bool
    ) throws -> JXLFrameHeader? {
        var header = JXLFrameHeader(size: isPreview ? image.previewSize ?? image.size : image.size)
        var reader = JXLBitReader(codestream, at: offset)
        do {
            if !reader.flag() { try header.readFields(&reader, image, isPreview) }
            if reader.isOver { return nil }
            guard try header.readContents(&reader) else { return nil }
        } catch is JXLEntropyReader.Invalid {
            // The bytes that are missing may be what makes it valid.
            if reader.isOver { return nil }
            throw CodecError.damaged(.jpegXL, reason: "the header of a frame is invalid")
        }
        header.headerBytes = reader.byteOffset - offset
        return header
    }

    private init(size: PixelSize) {
        self.size = size
    }

    // MARK: - Fields

    private mutating func readFields(_ reader: inout JXLBitReader, _ image: JXLImageHeader, _ isPreview: Bool) throws {
        kind = Kind(rawValue: reader.bits(2)) ?? .regular
        guard !isPreview || kind == .regular else { throw JXLEntropyReader.Invalid() }
        isModular = reader.flag()
        usesLowFrequencyFrame = reader.long() & Self.flagLowFrequencyFrame != 0
        if !image.isXYB { isYCbCr = reader.flag() }
        if !usesLowFrequencyFrame { try readSampling(&reader, image) }
        if isModular {
            groupSizeShift = reader.bits(2)
        } else if image.isXYB {
            reader.skip(6)
        }
        if kind != .reference { try readPasses(&reader) }
        if kind == .lowFrequency {
            lowFrequencyLevel = 1 + reader.bits(2)
        } else {
            try readRectangle(&reader, image)
        }
        if kind == .regular || kind == .skipProgressive {
            try readBlending(&reader, image)
        }
        if kind != .regular { isLast = false }
        if kind != .lowFrequency, !isLast { savedAs = reader.bits(2) }
        readSaving(&reader)
        Self.skipName(&reader)
        try readFilter(&reader)
        try Self.skipExtensions(&reader)
        if kind == .lowFrequency {
            let side = 1 << (3 * lowFrequencyLevel)
            size = PixelSize((size.width + side - 1) / side, (size.height + side - 1) / side)
        }
    }

    private mutating func readSampling(_ reader: inout JXLBitReader, _ image: JXLImageHeader) throws {
        if isYCbCr {
            let modes = (0..<3).map { _ in reader.bits(2) }
            if !modes.allSatisfy({ $0 == 0 || $0 == 3 }) { horizontalShift = 1 }
            if !modes.allSatisfy({ $0 == 0 || $0 == 2 }) { verticalShift = 1 }
            isSubsampled = modes.contains { $0 != modes[0] }
        }
        upsampling = 1 << reader.bits(2)
        for channel in image.extraChannels {
            let extra = 1 << (reader.bits(2) + channel.shift)
            guard extra >= upsampling, extra <= 8 else { throw JXLEntropyReader.Invalid() }
        }
    }

    private mutating func readPasses(_ reader: inout JXLBitReader) throws {
        passes = reader.number(.value(1), .value(2), .value(3), .bits(3, from: 4))
        guard passes > 1 else { return }
        let reductions = reader.number(.value(0), .value(1), .value(2), .bits(1, from: 3))
        guard reductions <= passes else { throw JXLEntropyReader.Invalid() }
        reader.skip(2 * (passes - 1))
        reader.skip(2 * reductions)
        for _ in 0..<reductions { _ = reader.number(.value(0), .value(1), .value(2), .bits(3)) }
    }

    private mutating func readRectangle(_ reader: inout JXLBitReader, _ image: JXLImageHeader) throws {
        guard reader.flag() else { return }
        func side() -> Int {
            reader.number(.bits(8), .bits(11, from: 256), .bits(14, from: 2304), .bits(30, from: 18_688))
        }
        func signed(_ value: Int) -> Int { value & 1 == 0 ? value / 2 : -(value / 2) - 1 }
        let hasOrigin = kind == .regular || kind == .skipProgressive
        let (x, y) = hasOrigin ? (signed(side()), signed(side())) : (0, 0)
        let canvas = size
        size = PixelSize(side(), side())
        guard !size.isEmpty else { throw JXLEntropyReader.Invalid() }
        isPartial =
            hasOrigin && (x > 0 || y > 0 || x + size.width < canvas.width || y + size.height < canvas.height)
    }

    private mutating func readBlending(_ reader: inout JXLBitReader, _ image: JXLImageHeader) throws {
        var (replaces, ofColour) = (true, 0)
        for channel in 0...image.extraChannels.count {
            let mode = reader.number(.value(0), .value(1), .value(2), .bits(2, from: 3))
            guard mode <= 4 else { throw JXLEntropyReader.Invalid() }
            let usesAlpha = !image.extraChannels.isEmpty && (mode == 2 || mode == 3)
            if usesAlpha {
                let alpha = reader.number(.value(0), .value(1), .value(2), .bits(3, from: 3))
                guard alpha < image.extraChannels.count else { throw JXLEntropyReader.Invalid() }
            }
            if usesAlpha || mode == 4 { reader.skip(1) }
            if mode != 0 || isPartial { reader.skip(2) }
            replaces = replaces && mode == 0
            if channel == 0 { ofColour = mode }
        }
        (replacesAll, replacesColour) = (replaces && !isPartial, ofColour == 0)
        if let animation = image.animation {
            duration = reader.number(.value(0), .value(1), .bits(8), .bits(32))
            if animation.hasTimecodes { reader.skip(32) }
        }
        isLast = reader.flag()
    }

    private mutating func readSaving(_ reader: inout JXLBitReader) {
        switch kind {
        case .regular, .skipProgressive:
            let canBeReferenced = !isLast && (duration == 0 || savedAs != 0)
            if canBeReferenced, replacesColour, !isPartial { reader.skip(1) }
        case .reference: reader.skip(1)
        case .lowFrequency: break
        }
    }

    private mutating func readFilter(_ reader: inout JXLBitReader) throws {
        guard !reader.flag() else { return }
        // Each weight is a number of 16 bits.
        isFiltered = reader.flag()
        if isFiltered, reader.flag() { reader.skip(6 * 16) }
        if reader.bits(2) > 0 {
            isFiltered = true
            if !isModular, reader.flag() { reader.skip(8 * 16) }
            if reader.flag() { reader.skip(5 * 16) }
            if reader.flag() { reader.skip((isModular ? 3 : 4) * 16) }
            if isModular { reader.skip(16) }
        }
        // libjxl counts extensions of the filter once more behind those of the frame. Nobody has defined any.
        guard reader.long() == 0 else { throw JXLEntropyReader.Invalid() }
    }

    static func skipName(_ reader: inout JXLBitReader) {
        let count = reader.number(.value(0), .bits(4), .bits(5, from: 16), .bits(10, from: 48))
        reader.skip(count * 8)
    }

    static func skipExtensions(_ reader: inout JXLBitReader) throws {
        var (present, length) = (reader.long(), 0)
        while present != 0 {
            present &= present - 1
            length = length.adding(1, times: Int(clamping: reader.long()))
        }
        reader.skip(length)
    }

    // MARK: - Table of contents

    /// Reads the lengths of the parts; false if not all of them are there.
    private mutating func readContents(_ reader: inout JXLBitReader) throws -> Bool {
        guard let count = parts, count <= Self.maximumParts else {
            throw CodecError.limitExceeded("parts of a frame", value: parts ?? .max, limit: Self.maximumParts)
        }
        // A length takes at least 12 bits.
        guard reader.left > count * 12 else { return false }
        let places = reader.flag() ? try JXLPermutation.read(count, &reader) : nil
        guard reader.alignToByte() else { throw JXLEntropyReader.Invalid() }
        var ends: [Int] = []
        for _ in 0..<count {
            bodyBytes += reader.number(
                .bits(10), .bits(14, from: 1024), .bits(22, from: 17_408), .bits(30, from: 4_211_712))
            ends.append(bodyBytes)
        }
        guard reader.alignToByte() else { throw JXLEntropyReader.Invalid() }
        note(ends, places)
        return !reader.isOver
    }

    /// Notes what there is to show of the parts as they arrive.
    ///
    /// - Parameters:
    ///   - ends: the end of each part, in the order in which they are stored.
    ///   - places: the place of each part in that order; nil if they are in order.
    private mutating func note(_ ends: [Int], _ places: [Int]?) {
        guard let counts = partCounts, ends.count > 1 else { return }
        func place(_ part: Int) -> Int { places?[part] ?? part }
        // One part of the whole frame, those of an eighth of its detail, one more of all, and the squares in their passes.
        let first = counts.coarse + 2
        if let places {
            comesInTurn =
                (0..<first).allSatisfy { places[$0] == $0 }
                && (first + counts.groups..<ends.count).allSatisfy {
                    places[$0] > places[$0 - counts.groups]
                }
        }
        coarseBytes = (1..<first - 1).reduce(0) { $0 + ends[place($1)] - ends[max(1, place($1)) - 1] }
        // In order, the squares are there that another one may be predicted from: those above it and to the left of it.
        guard hasFinalGroups, !isCoarseFirst, places == nil else { return }
        groups = JXLGroups(of: size, side: groupSide, ends: Array(ends[first...]))
    }

    /// Whether its squares, if it is stored in full detail alone, depend neither on later ones nor on later passes. Only the last frame
    /// keeps them: there may be very many frames, and the others are not shown before they are complete.
    private var hasFinalGroups: Bool {
        isLast && kind == .regular && replacesAll && isModular && passes == 1 && upsampling == 1 && !isFiltered
            && !isSubsampled
    }

    /// The side in pixels of the squares that it is stored in.
    private var groupSide: Int { 128 << groupSizeShift }

    /// The number of parts that the frame is stored in; nil if it is beyond an integer.
    private var parts: Int? {
        partCounts.map { groups, coarse in
            groups == 1 && passes == 1 ? 1 : 0.adding(passes, times: groups).adding(1, times: coarse + 2)
        }
    }

    /// The number of groups, and of parts that hold an eighth of its detail.
    private var partCounts: (groups: Int, coarse: Int)? {
        func divided(_ value: Int, _ side: Int) -> Int { (value + side - 1) / side }
        let (width, height) = (divided(size.width, upsampling), divided(size.height, upsampling))
        let side = groupSide
        func blocks(_ length: Int, _ shift: Int) -> Int { divided(length, 8 << shift) << shift }
        let groups = PixelSize(divided(width, side), divided(height, side)).area
        let coarse = PixelSize(
            divided(blocks(width, horizontalShift), side), divided(blocks(height, verticalShift), side)
        ).area
        guard let groups, let coarse else { return nil }
        return (groups, coarse)
    }
}
