import Foundation
import HalcyonImage

/// The limits on the values that a file's header may declare. A file beyond them is refused before memory is allocated.
public struct DecodeLimits: Hashable, Sendable {
    /// The maximum number of pixels of one frame that are decoded at once. 2^28 by default, a bitmap of 1 GiB. A file with
    /// more can still be decoded to fewer, if its format is decoded row by row or at a scale, as JPEG and PNG are.
    public var maximumPixels: Int
    /// The maximum number of pixels of an image in its file, however few of them are decoded. 2^30 by default: some five
    /// seconds for a JPEG. A `maximumPixels` above it has no effect.
    public var maximumSourcePixels: Int
    /// The maximum length of the longer side in pixels. 65,535 by default, the maximum of JPEG and GIF; never more than
    /// `Bitmap.maximumSide`.
    public var maximumSide: Int
    /// The maximum number of frames of an animation. 10,000 by default.
    public var maximumFrames: Int
    /// The maximum number of pixels of all frames together. A frame counts as its canvas, or as the pixels that it
    /// unpacks to if they are more. 2^32 by default: some fifteen seconds of decoding, or 2,000 frames of 1920 x 1080.
    ///
    /// Frames that are requested out of order are drawn from an earlier one. The cost of this beyond a few frames for
    /// each request is checked against this limit, too.
    public var maximumTotalPixels: Int
    /// The maximum number of pixels of all frames together for each byte of the file, checked if they are more than
    /// 2^30: a few bytes can repeat a large canvas. 16,384 by default; only recordings with hardly any motion come near
    /// it.
    public var maximumTotalPixelsPerByte: Int
    /// The maximum number of pixels for each byte of the file, checked if a frame has more than 2^24 pixels: a few
    /// bytes of WebP or AVIF can declare any number of white pixels. 65,536 by default; only files of a single colour
    /// reach it.
    public var maximumPixelsPerByte: Int
    /// The maximum ratio of the longer side to the shorter one. 65,535 by default.
    public var maximumSideRatio: Int
    /// The maximum number of bytes of EXIF, ICC, XMP and comments together. 16 MiB by default.
    public var maximumMetadataBytes: Int

    /// Creates limits; omitted arguments take the defaults that the properties state.
    public init(
        maximumPixels: Int = 1 << 28, maximumSide: Int = 65_535, maximumFrames: Int = 10_000,
        maximumTotalPixels: Int = 1 << 32, maximumPixelsPerByte: Int = 65_536, maximumSideRatio: Int = 65_535,
        maximumMetadataBytes: Int = 16 << 20, maximumTotalPixelsPerByte: Int = 16_384,
        maximumSourcePixels: Int = 1 << 30
    ) {
        self.maximumPixels = maximumPixels
        self.maximumSourcePixels = maximumSourcePixels
        self.maximumSide = maximumSide
        self.maximumFrames = maximumFrames
        self.maximumTotalPixels = maximumTotalPixels
        self.maximumPixelsPerByte = maximumPixelsPerByte
        self.maximumSideRatio = maximumSideRatio
        self.maximumMetadataBytes = maximumMetadataBytes
        self.maximumTotalPixelsPerByte = maximumTotalPixelsPerByte
    }

    /// All limits, in the order in which messages to workers have them.
    package static var all: [WritableKeyPath<DecodeLimits, Int>] {
        [
            \.maximumPixels, \.maximumSourcePixels, \.maximumSide, \.maximumFrames, \.maximumTotalPixels,
            \.maximumTotalPixelsPerByte, \.maximumPixelsPerByte, \.maximumSideRatio, \.maximumMetadataBytes,
        ]
    }

    /// Checks the sides and the area of one frame.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    package func check(_ size: PixelSize) throws(CodecError) {
        try check(sides: size)
        try Self.require("pixels", size.area ?? .max, atMost: maximumPixels)
    }

    private func check(sides size: PixelSize) throws(CodecError) {
        let side = min(maximumSide, Bitmap.maximumSide)
        try Self.require("longest side", max(size.width, size.height), atMost: side)
    }

    /// Checks the size that a header declares, before anything else in it.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(declared size: PixelSize) throws(CodecError) {
        try check(sides: size)
        try Self.require("pixels in the file", size.area ?? .max, atMost: maximumSourcePixels)
    }

    /// Checks the values of a header: the size, the ratio of the sides, the frames and the metadata. The pixels that are
    /// decoded are checked with their plan.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    package func check(_ info: ImageInfo, metadataBytes: Int = 0) throws {
        // A vector image has no pixels of its own.
        try info.isVector ? check(sides: info.size) : check(declared: info.size)
        if info.isAnimated { try check(info.size) }
        let sides = (min(info.size.width, info.size.height), max(info.size.width, info.size.height))
        try Self.require("ratio of the sides", sides.1 / max(sides.0, 1), atMost: maximumSideRatio)
        try Self.require("frames", info.frameCount, atMost: maximumFrames)
        let (total, overflow) = (info.size.area ?? .max).multipliedReportingOverflow(by: info.frameCount)
        try Self.require("pixels of all frames", overflow ? .max : total, atMost: maximumTotalPixels)
        try check(metadataBytes: metadataBytes)
    }

    /// Checks the pixels of one frame for each byte of the file.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    package func check(_ info: ImageInfo, fileBytes: Int) throws {
        let pixels = info.size.area ?? .max
        // A vector image has no pixels of its own.
        guard pixels > 1 << 24, !info.isVector else { return }
        try Self.require("pixels per byte", pixels / max(fileBytes, 1), atMost: maximumPixelsPerByte)
    }

    /// Checks the extent that the data unpacks to, which may exceed the size that the image declares.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(_ extent: CodedExtent, of info: ImageInfo, fileBytes: Int) throws {
        // The image itself is checked with its plan.
        if extent.largest != info.storedSize { try check(extent.largest) }
        let pixels = extent.largest.area ?? .max
        if pixels > 1 << 24 {
            try Self.require("pixels per byte", pixels / max(fileBytes, 1), atMost: maximumPixelsPerByte)
        }
        try Self.require("frames", extent.declaredFrames, atMost: maximumFrames)
        try Self.require("pixels of all frames", extent.totalPixels, atMost: maximumTotalPixels)
        guard extent.totalPixels > 1 << 30 else { return }
        try Self.require(
            "pixels of all frames per byte", extent.totalPixels / max(fileBytes, 1), atMost: maximumTotalPixelsPerByte)
    }

    /// Checks the embedded images. All of them are in memory at once, so together they may have no more pixels than one
    /// frame.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(_ embedded: [EmbeddedImage]) throws {
        var pixels = 0
        for image in embedded {
            try check(image.info)
            let area = image.info.size.area ?? .max
            pixels = area > .max - pixels ? .max : pixels + area
            try Self.require("pixels of embedded images", pixels, atMost: maximumPixels)
        }
    }

    /// Checks the number of bytes of metadata.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    package func check(metadataBytes: Int) throws {
        try Self.check(metadataBytes: metadataBytes, atMost: maximumMetadataBytes)
    }

    /// Checks a part of the metadata against what others leave of the limit.
    package static func check(metadataBytes: Int, atMost limit: Int) throws {
        try require("metadata bytes", metadataBytes, atMost: limit)
    }

    private static func require(_ what: String, _ value: Int, atMost limit: Int) throws(CodecError) {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }
}

/// The extent of the pixels that a file's data unpacks to. A container may declare fewer pixels than its pictures,
/// tiles and frames have.
public struct CodedExtent: Hashable, Sendable {
    /// The size of the largest picture, tile or frame that is unpacked as a whole.
    public var largest: PixelSize
    /// The number of pixels of all frames together, where a frame that is drawn onto a canvas counts as the canvas.
    /// `Int.max` if the number does not fit.
    public var totalPixels: Int
    /// The number of frames that the header declares, which may be more than there are: a file that is still arriving is judged by
    /// it, and so is the whole one.
    public var declaredFrames: Int

    /// Creates an extent from the largest picture's size, the number of pixels of all frames, and the declared number of frames, 1 by
    /// default.
    public init(largest: PixelSize, totalPixels: Int, declaredFrames: Int = 1) {
        self.largest = largest
        self.totalPixels = totalPixels
        self.declaredFrames = declaredFrames
    }

    /// Creates the extent that the header declares: every frame has the size of the image.
    public init(_ info: ImageInfo) {
        self.init(
            largest: info.storedSize, totalPixels: 0.adding(max(1, info.frameCount), times: info.size.area ?? .max),
            declaredFrames: info.frameCount)
    }

    /// Adds a picture that is unpacked in addition to the others.
    ///
    /// - Parameter pixels: the number of pixels that it adds to `totalPixels`; its area by default.
    package mutating func add(_ size: PixelSize, pixels: Int? = nil) {
        let area = size.area ?? .max
        if area > largest.area ?? .max { largest = size }
        totalPixels = totalPixels.adding(1, times: pixels ?? area)
    }
}

extension ImageDecoder {
    /// Reads the header and checks it, and the extent that the data unpacks to, against the limits.
    ///
    /// - Parameter fileBytes: the size of the file; nil while the file is incomplete and its ratio of pixels to bytes
    ///   is unknown.
    /// - Throws: `CodecError`.
    func probe(_ data: Data, within limits: DecodeLimits, fileBytes: Int?) throws -> ImageInfo {
        let info = try probe(data)
        try limits.check(info, metadataBytes: metadataByteCount(data))
        // A vector image has no pixels of its own.
        guard !info.isVector else { return info }
        try limits.check(codedExtent(of: data, info: info), of: info, fileBytes: fileBytes ?? .max)
        return info
    }
}
