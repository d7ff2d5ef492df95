import Foundation
import HalcyonCodecs
import HalcyonImage

/// A JPEG XL file: its codestream, which stands alone or in boxes (ISO/IEC 18181-2), with the headers of the image and its frames.
struct JXLFile {
    /// A frame of the codestream, shown or not.
    struct Frame {
        let header: JXLFrameHeader
        /// The range of its bytes in the codestream, which may end after the codestream does.
        let bytes: Range<Int>
    }

    /// More frames than an image has, hidden ones included.
    private static let maximumFrames = 100_000

    /// The codestream, as far as it is there.
    let codestream: Data
    let header: JXLImageHeader
    /// The frames whose headers are there, without the preview.
    private(set) var frames: [Frame] = []
    /// The number of bytes before the first frame or the preview.
    private(set) var headerBytes = 0
    /// The number of bytes of EXIF, XMP and other boxes beside the codestream, and of the profile as it is stored.
    let metadataByteCount: Int
    /// The name of the ICC profile; nil if there is none.
    private var profileName: String?
    /// Whether it has what turns it into the JPEG that it was made of.
    let hasJPEG: Bool
    /// Whether the end of a box or of the last frame is missing.
    private(set) var isCut: Bool

    /// - Throws: `CodecError.damaged`, also if the header is not there as a whole, and `.limitExceeded`.
    init(_ data: Data) throws {
        let boxes = try JXLBoxes(data)
        codestream = boxes.codestream
        guard let header = try codestream.read({ try JXLImageHeader.read($0) }) else { throw Self.cutOff }
        guard !header.size.isEmpty else { throw CodecError.damaged(.jpegXL, reason: "its size is zero") }
        self.header = header
        (isCut, hasJPEG) = (boxes.isCut, boxes.hasJPEG)
        metadataByteCount = boxes.metadataByteCount.adding(1, times: header.profileBytes ?? 0)
        if let count = header.byteCount { headerBytes = count } else { try readProfile() }
        try readFrames()
    }

    static var cutOff: CodecError { .damaged(.jpegXL, reason: "the file was cut off") }

    private mutating func readProfile() throws {
        try codestream.withUnsafeBytes { bytes in
            let decoder = try JXLDecoder(bytes, isWhole: false, context: .uncancellable)
            headerBytes = bytes.count - decoder.unreadBytes
            profileName = decoder.embeddedProfile.map { $0.read { ICCProfile.name(of: $0) } } ?? ""
        }
    }

    private mutating func readFrames() throws {
        var offset = headerBytes
        var isPreview = header.previewSize != nil
        while true {
            let frame = try codestream.read {
                try JXLFrameHeader.read($0, at: offset, of: header.facts, isPreview: isPreview)
            }
            guard let frame else { break }
            let end = offset.adding(1, times: frame.headerBytes).adding(1, times: frame.bodyBytes)
            if !isPreview { frames.append(Frame(header: frame, bytes: offset..<end)) }
            guard frames.count <= Self.maximumFrames else {
                throw CodecError.limitExceeded("frames", value: frames.count, limit: Self.maximumFrames)
            }
            (offset, isPreview) = (end, false)
            if frame.isLast, !frames.isEmpty { break }
            guard end < codestream.count else { break }
        }
        let last = frames.last
        if last?.header.isLast != true || last?.bytes.upperBound ?? .max > codestream.count { isCut = true }
    }

    // MARK: - Facts

    /// The shown frames that are there as a whole. The duration of a still image's frame is zero.
    var shownFrames: [Frame] { frames.filter { $0.header.isShown && $0.bytes.upperBound <= codestream.count } }

    /// The facts of the header; the number of frames is that of those that are there as a whole.
    var info: ImageInfo {
        let orientation = header.orientation
        let count = header.animation == nil ? 1 : max(1, shownFrames.count)
        return ImageInfo(
            format: .jpegXL, size: orientation.applied(to: header.size), frameCount: count,
            loopCount: count > 1 ? min(header.animation?.loops ?? 1, 65_535) : nil, hasAlpha: header.alpha != nil,
            bitsPerChannel: min(16, header.bits), orientation: orientation,
            colorSpace: profileName.map { .icc($0) } ?? (header.isGray ? .gray : .sRGB))
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
    func duration(of frame: Frame) -> Duration {
        guard let (numerator, denominator) = header.animation?.ticks, numerator > 0 else { return .zero }
        // A day is more than any frame is shown for.
        let seconds = Double(frame.header.duration) * Double(denominator) / Double(numerator)
        return .nanoseconds(Int64((min(seconds, 86_400) * 1e9).rounded()))
    }
}

/// The boxes of a file, with the codestream that they hold.
struct JXLBoxes {
    private(set) var codestream = Data()
    private(set) var metadataByteCount = 0
    private(set) var hasJPEG = false
    private(set) var isCut = false

    /// - Throws: `CodecError.damaged`.
    init(_ data: Data) throws {
        guard !data.read({ $0.matches([0xFF, 0x0A], at: 0) }) else {
            codestream = data
            return
        }
        try data.withUnsafeBytes { bytes in
            let reader = ByteReader(bytes)
            var (parts, isOver) = ([ISOBox](), false)
            for box in ISOBox.ofFile(reader) {
                if box.isCut { isCut = true }
                if box.isNamed("jxlc"), parts.isEmpty, !isOver {
                    (parts, isOver) = ([box], true)
                } else if box.isNamed("jxlp"), !isOver {
                    guard let number = box.body.bigEndian32(0) else { break }
                    guard number & 0x7FFF_FFFF == parts.count else {
                        throw CodecError.damaged(.jpegXL, reason: "the parts of its codestream are out of order")
                    }
                    parts.append(box)
                    isOver = number >> 31 == 1
                } else if box.isNamed("jbrd") {
                    hasJPEG = true
                } else if !box.isNamed("JXL "), !box.isNamed("ftyp"), !box.isNamed("jxll") {
                    metadataByteCount += box.body.count
                }
            }
            if !isOver { isCut = true }
            codestream = Self.join(parts, in: data, reader)
        }
        guard codestream.isEmpty || codestream.read({ $0.matches([0xFF, 0x0A], at: 0) }) else {
            throw CodecError.damaged(.jpegXL, reason: "its codestream has no signature")
        }
    }

    /// Returns the bytes of the parts, without a copy if there is one.
    private static func join(_ parts: [ISOBox], in data: Data, _ reader: ByteReader) -> Data {
        func range(_ box: ISOBox) -> Range<Int> {
            // A part begins with its number.
            let head = box.isNamed("jxlp") ? 4 : 0
            let start = min(box.end, box.end - box.body.count + head)
            return data.startIndex + start..<data.startIndex + box.end
        }
        guard parts.count != 1 else { return data[range(parts[0])] }
        return parts.reduce(into: Data()) { $0.append(data[range($1)]) }
    }
}
