import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

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
    /// The answer of `deliveredProfile`, once it has been asked.
    private let delivered = Lock<ColorProfile??>(nil)

    /// - Throws: `CodecError.damaged`, also if the header is not there as a whole, and `.limitExceeded`.
    init(_ data: Data) throws {
        boxes = try JXLBoxes(data)
        codestream = try boxes.codestream(in: data)
        guard let header = try codestream.read({ try JXLImageHeader.read($0) }) else { throw Self.cutOff }
        guard !header.size.isEmpty else { throw CodecError.damaged(.jpegXL, reason: "its size is zero") }
        try header.checkSize()
        self.header = header
        metadataByteCount = boxes.metadataByteCount.adding(1, times: header.profileBytes ?? 0)
        let headerBytes: Int
        if let count = header.byteCount {
            headerBytes = count
        } else {
            let profile: ColorProfile?
            (headerBytes, profileName, profile) = try Self.profile(codestream)
            delivered.withLock { $0 = .some(profile) }
        }
        var index = JXLFrameIndex(header, from: headerBytes)
        try codestream.read { try index.read($0) }
        self.index = index
        isCut = boxes.isCut || !index.isWhole(within: codestream.count)
    }

    /// The header in the beginning of a file; nil if it is not there as a whole, or is damaged.
    static func header(inBeginning data: Data) -> JXLImageHeader? {
        try? JXLBoxes(data).codestream(in: data).read { try JXLImageHeader.read($0) }
    }

    static var cutOff: CodecError { .damaged(.jpegXL, reason: "the file was cut off") }

    /// Returns the end of the headers, the name of the profile in them, and that of the pixels that libjxl delivers.
    private static func profile(_ codestream: Data) throws -> (end: Int, name: String, delivered: ColorProfile?) {
        try codestream.withUnsafeBytes { bytes in
            let decoder = try JXLDecoder(bytes, isWhole: false, context: .uncancellable)
            let name = decoder.embeddedProfile.map { $0.read { ICCProfile.name(of: $0) } }
            return (bytes.count - decoder.unreadBytes, name ?? "", decoder.profile)
        }
    }

    // MARK: - Facts

    /// The profile of the pixels that libjxl delivers; nil if they are in sRGB. It is asked once, and costs as much as a small picture.
    var deliveredProfile: ColorProfile? {
        guard !header.isDeliveredInSRGB else { return nil }
        if let known = delivered.withLock({ $0 }) { return known }
        let profile = codestream.withUnsafeBytes { bytes in
            try? JXLDecoder(bytes, isWhole: false, context: .uncancellable).profile
        }
        delivered.withLock { $0 = .some(profile) }
        return profile
    }

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

    /// The largest picture that libjxl unpacks, and the pixels of all of them. A frame that is drawn counts as the canvas at least,
    /// of which libjxl goes through every pixel, and one that is shown as no more.
    var extent: CodedExtent {
        var extent = CodedExtent(info)
        let canvas = header.size.area ?? .max
        for frame in frames.lazy.map(\.header) where !frame.isShown || frame.size != header.size {
            let pixels = frame.isDrawn ? max(canvas, frame.size.area ?? .max) : nil
            extent.add(frame.size, pixels: frame.isShown ? 0 : pixels)
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
