import HalcyonImage

/// What a header may declare before its file is refused, checked before anything is allocated.
public struct DecodeLimits: Hashable, Sendable {
    /// Pixels of one frame as stored. 2^28 by default, a bitmap of 1 GiB.
    public var maximumPixels: Int
    /// Pixels of the longer side. 65,535 by default, the most that JPEG and GIF can say; never more than
    /// `Bitmap.maximumSide`.
    public var maximumSide: Int
    /// Frames of an animation. 10,000 by default.
    public var maximumFrames: Int
    /// Pixels of all frames together: of each those of the canvas, or those that it unpacks to where they are more. 2^32
    /// by default: some fifteen seconds of decoding, 2,000 frames of 1920 x 1080.
    ///
    /// Frames that are asked for out of their order are drawn from an earlier one. What that costs beyond a few frames
    /// for each is held against this limit, too.
    public var maximumTotalPixels: Int
    /// Pixels of all frames together for each byte of the file, where they are more than 2^30: a few bytes can repeat a
    /// large canvas. 16,384 by default; only recordings in which hardly anything moves come near it.
    public var maximumTotalPixelsPerByte: Int
    /// Pixels for each byte of the file, where a frame has more than 2^24 of them: a few bytes of WebP or AVIF can say
    /// "all of it is white" for as many pixels as they like. 65,536 by default; only files of a single colour reach it.
    public var maximumPixelsPerByte: Int
    /// How many times longer one side may be than the other. 32,768 by default.
    public var maximumSideRatio: Int
    /// Bytes of EXIF, ICC, XMP and comments together. 16 MiB by default.
    public var maximumMetadataBytes: Int

    public init(
        maximumPixels: Int = 1 << 28, maximumSide: Int = 65_535, maximumFrames: Int = 10_000,
        maximumTotalPixels: Int = 1 << 32, maximumPixelsPerByte: Int = 65_536, maximumSideRatio: Int = 32_768,
        maximumMetadataBytes: Int = 16 << 20, maximumTotalPixelsPerByte: Int = 16_384
    ) {
        self.maximumPixels = maximumPixels
        self.maximumSide = maximumSide
        self.maximumFrames = maximumFrames
        self.maximumTotalPixels = maximumTotalPixels
        self.maximumPixelsPerByte = maximumPixelsPerByte
        self.maximumSideRatio = maximumSideRatio
        self.maximumMetadataBytes = maximumMetadataBytes
        self.maximumTotalPixelsPerByte = maximumTotalPixelsPerByte
    }

    /// - Throws: `CodecError.limitExceeded`.
    public func check(_ size: PixelSize) throws {
        let side = min(maximumSide, Bitmap.maximumSide)
        try Self.require("longest side", max(size.width, size.height), atMost: side)
        try Self.require("pixels", size.area ?? .max, atMost: maximumPixels)
    }

    /// - Throws: `CodecError.limitExceeded`.
    public func check(_ info: ImageInfo, metadataBytes: Int = 0) throws {
        try check(info.size)
        let sides = (min(info.size.width, info.size.height), max(info.size.width, info.size.height))
        try Self.require("ratio of the sides", sides.1 / max(sides.0, 1), atMost: maximumSideRatio)
        try Self.require("frames", info.frameCount, atMost: maximumFrames)
        let (total, overflow) = (info.size.area ?? .max).multipliedReportingOverflow(by: info.frameCount)
        try Self.require("pixels of all frames", overflow ? .max : total, atMost: maximumTotalPixels)
        try check(metadataBytes: metadataBytes)
    }

    /// - Throws: `CodecError.limitExceeded`.
    func check(_ info: ImageInfo, fileBytes: Int) throws {
        let pixels = info.size.area ?? .max
        // A drawing has no pixels of its own.
        guard pixels > 1 << 24, !info.isVector else { return }
        try Self.require("pixels per byte", pixels / max(fileBytes, 1), atMost: maximumPixelsPerByte)
    }

    /// Holds what the data unpacks to against the limits, which may be more than the image that it says it is.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(_ extent: CodedExtent, fileBytes: Int) throws {
        try check(extent.largest)
        let pixels = extent.largest.area ?? .max
        if pixels > 1 << 24 {
            try Self.require("pixels per byte", pixels / max(fileBytes, 1), atMost: maximumPixelsPerByte)
        }
        try Self.require("pixels of all frames", extent.totalPixels, atMost: maximumTotalPixels)
        guard extent.totalPixels > 1 << 30 else { return }
        try Self.require(
            "pixels of all frames per byte", extent.totalPixels / max(fileBytes, 1), atMost: maximumTotalPixelsPerByte)
    }

    /// All of them are in memory at once, so together they may have no more pixels than one frame.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(_ embedded: [EmbeddedImage]) throws {
        var pixels = 0
        for image in embedded {
            try check(image.info)
            let area = image.info.size.area ?? .max
            pixels = area > .max - pixels ? .max : pixels + area
            try Self.require("pixels of images inside of it", pixels, atMost: maximumPixels)
        }
    }

    /// - Throws: `CodecError.limitExceeded`.
    func check(metadataBytes: Int) throws {
        try Self.require("metadata bytes", metadataBytes, atMost: maximumMetadataBytes)
    }

    private static func require(_ what: String, _ value: Int, atMost limit: Int) throws {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }
}
