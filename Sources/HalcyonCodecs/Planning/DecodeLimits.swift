import HalcyonImage

/// The limits on the values that a file's header may declare. A file beyond them is refused before memory is allocated.
public struct DecodeLimits: Hashable, Sendable {
    /// The maximum number of pixels of one frame as stored. 2^28 by default, a bitmap of 1 GiB.
    public var maximumPixels: Int
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
    /// The maximum ratio of the longer side to the shorter one. 32,768 by default.
    public var maximumSideRatio: Int
    /// The maximum number of bytes of EXIF, ICC, XMP and comments together. 16 MiB by default.
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

    /// Checks the sides and the area of one frame.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    public func check(_ size: PixelSize) throws {
        let side = min(maximumSide, Bitmap.maximumSide)
        try Self.require("longest side", max(size.width, size.height), atMost: side)
        try Self.require("pixels", size.area ?? .max, atMost: maximumPixels)
    }

    /// Checks the values of a header: the size, the ratio of the sides, the frames and the metadata.
    ///
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

    /// Checks the pixels of one frame for each byte of the file.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(_ info: ImageInfo, fileBytes: Int) throws {
        let pixels = info.size.area ?? .max
        // A vector image has no pixels of its own.
        guard pixels > 1 << 24, !info.isVector else { return }
        try Self.require("pixels per byte", pixels / max(fileBytes, 1), atMost: maximumPixelsPerByte)
    }

    /// Checks the extent that the data unpacks to, which may exceed the size that the image declares.
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
            try Self.require("pixels of images inside of it", pixels, atMost: maximumPixels)
        }
    }

    /// Checks the number of bytes of metadata.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    func check(metadataBytes: Int) throws {
        try Self.require("metadata bytes", metadataBytes, atMost: maximumMetadataBytes)
    }

    private static func require(_ what: String, _ value: Int, atMost limit: Int) throws {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }
}
