import Foundation
import HalcyonCodecs
import HalcyonImage

/// A JPEG XL file: its codestream, which stands alone or in boxes (ISO/IEC 18181-2), with the headers of the image and its frames.
struct JXLFile {
    /// The codestream, as far as it is there.
    let codestream: Data
    let header: JXLImageHeader
    /// The frames whose headers are there.
    let index: JXLFrameIndex
    /// The number of bytes of EXIF, XMP and other boxes beside the codestream, and of the profile as it is stored.
    let metadataByteCount: Int
    /// The name of the ICC profile; nil if there is none.
    private(set) var profileName: String?
    /// Whether the end of a box or of the last frame is missing.
    let isCut: Bool
    let boxes: JXLBoxes

    /// - Throws: `CodecError.damaged`, also if the header is not there as a whole, and `.limitExceeded`.
    init(_ data: Data) throws {
        boxes = try JXLBoxes(data)
        codestream = try boxes.codestream(in: data)
        guard let header = try codestream.read({ try JXLImageHeader.read($0) }) else { throw Self.cutOff }
        guard !header.size.isEmpty else { throw CodecError.damaged(.jpegXL, reason: "its size is zero") }
        self.header = header
        metadataByteCount = boxes.metadataByteCount.adding(1, times: header.profileBytes ?? 0)
        let headerBytes: Int
        if let count = header.byteCount {
            headerBytes = count
        } else {
            (headerBytes, profileName) = try Self.profile(codestream)
        }
        var index = JXLFrameIndex(header, from: headerBytes)
        try codestream.read { try index.read($0) }
        self.index = index
        isCut = boxes.isCut || !index.isWhole(within: codestream.count)
    }

    static var cutOff: CodecError { .damaged(.jpegXL, reason: "the file was cut off") }

    /// Returns the end of the headers, and the name of the profile in them.
    private static func profile(_ codestream: Data) throws -> (end: Int, name: String) {
        try codestream.withUnsafeBytes { bytes in
            let decoder = try JXLDecoder(bytes, isWhole: false, context: .uncancellable)
            let name = decoder.embeddedProfile.map { $0.read { ICCProfile.name(of: $0) } }
            return (bytes.count - decoder.unreadBytes, name ?? "")
        }
    }

    // MARK: - Facts

    /// The frames whose headers are there, shown or not.
    var frames: [JXLFrameIndex.Frame] { index.frames }

    /// The shown frames that are there as a whole. The duration of a still image's frame is zero.
    var shownFrames: [JXLFrameIndex.Frame] {
        frames.filter { $0.header.isShown && $0.bytes.upperBound <= codestream.count }
    }

    /// The facts of the header; the number of frames is that of those that are there as a whole.
    var info: ImageInfo {
        let orientation = header.orientation
        let count = header.animation == nil ? 1 : max(1, shownFrames.count)
        var info = ImageInfo(
            format: .jpegXL, size: orientation.applied(to: header.size), frameCount: count,
            loopCount: count > 1 ? min(header.animation?.loops ?? 1, 65_535) : nil, hasAlpha: header.alpha != nil,
            bitsPerChannel: min(16, header.bits), orientation: orientation,
            colorSpace: profileName.map { .icc($0) } ?? (header.isGray ? .gray : .sRGB))
        info.hasGainMap = boxes.hasGainMap
        return info
    }

    /// The largest picture that libjxl unpacks, and the pixels of all of them. A frame that is shown counts as the canvas.
    var extent: CodedExtent {
        var extent = CodedExtent(info)
        for frame in frames where !frame.header.isShown || frame.header.size != header.size {
            extent.add(frame.header.size, pixels: frame.header.isShown ? 0 : nil)
        }
        return extent
    }

    /// Returns the duration of a shown frame.
    func duration(of frame: JXLFrameIndex.Frame) -> Duration {
        guard let (numerator, denominator) = header.animation?.ticks, numerator > 0 else { return .zero }
        // A day is more than any frame is shown for.
        let seconds = Double(frame.header.duration) * Double(denominator) / Double(numerator)
        return .nanoseconds(Int64((min(seconds, 86_400) * 1e9).rounded()))
    }
}

/// The boxes of a file, with the places of the codestream that they hold.
struct JXLBoxes {
    /// A box of metadata.
    struct Metadata {
        let place: Range<Int>
        /// Whether Brotli has packed the bytes.
        let isPacked: Bool
    }

    /// More boxes than a file has.
    private static let maximumBoxes = 4096

    /// The places of the codestream, from the beginning of the data.
    private(set) var parts: [Range<Int>] = []
    private(set) var metadataByteCount = 0
    private(set) var isCut = false
    /// The place of the data from which a JPEG is rebuilt; nil if there is none.
    private(set) var reconstruction: Range<Int>?
    /// The first box of EXIF data and of XMP.
    private(set) var exif: Metadata?
    private(set) var xmp: Metadata?
    /// Whether there is a gain map (`jhgm`, ISO 21496-1).
    private(set) var hasGainMap = false

    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    init(_ data: Data) throws {
        guard !data.read({ $0.matches([0xFF, 0x0A], at: 0) }) else {
            parts = [0..<data.count]
            return
        }
        try data.read { try read($0) }
    }

    private mutating func read(_ file: ByteReader) throws {
        var (count, isOver, isWhole) = (0, false, false)
        for box in ISOBox.ofFile(file) {
            count += 1
            guard count <= Self.maximumBoxes else {
                throw CodecError.limitExceeded("boxes", value: count, limit: Self.maximumBoxes)
            }
            if box.isCut { isCut = true }
            let body = box.end - box.body.count..<box.end
            if box.isNamed("jxlc"), parts.isEmpty {
                parts = [body]
                (isOver, isWhole) = (true, true)
            } else if box.isNamed("jxlp"), !isWhole, !isOver {
                guard let number = box.body.bigEndian32(0) else { break }
                guard number & 0x7FFF_FFFF == parts.count else {
                    throw CodecError.damaged(.jpegXL, reason: "the parts of its codestream are out of order")
                }
                parts.append(body.dropFirst(4))
                isOver = number >> 31 == 1
            } else if !box.isNamed("JXL "), !box.isNamed("ftyp"), !box.isNamed("jxll") {
                add(box, at: body)
            }
        }
        if !isOver { isCut = true }
    }

    /// Adds a box beside the codestream.
    private mutating func add(_ box: ISOBox, at body: Range<Int>) {
        // The rest of a JPEG is no metadata of the picture, and has a limit of its own where it is read.
        guard !box.isNamed("jbrd") else {
            reconstruction = reconstruction ?? body
            return
        }
        metadataByteCount += box.body.count
        if box.isNamed("jhgm") { hasGainMap = true }
        let isPacked = box.isNamed("brob")
        let metadata = Metadata(place: isPacked ? body.dropFirst(4) : body, isPacked: isPacked)
        func holds(_ name: StaticString) -> Bool { isPacked ? box.body.matches(name, at: 0) : box.isNamed(name) }
        if exif == nil, holds("Exif") { exif = metadata }
        if xmp == nil, holds("xml ") { xmp = metadata }
    }

    /// Returns the codestream in the data, without a copy if it is in one part.
    ///
    /// - Throws: `CodecError.damaged` if it has no signature.
    func codestream(in data: Data) throws -> Data {
        func slice(_ range: Range<Int>) -> Data {
            data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
        }
        let codestream = parts.count == 1 ? slice(parts[0]) : parts.reduce(into: Data()) { $0.append(slice($1)) }
        guard codestream.count < 2 || codestream.read({ $0.matches([0xFF, 0x0A], at: 0) }) else {
            throw CodecError.damaged(.jpegXL, reason: "its codestream has no signature")
        }
        return codestream
    }
}
