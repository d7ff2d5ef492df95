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
    /// Bytes of EXIF, ICC, XMP and comments together. 16 MiB by default.
    public var maximumMetadataBytes: Int

    public init(
        maximumPixels: Int = 1 << 28, maximumSide: Int = 65_535, maximumFrames: Int = 10_000,
        maximumMetadataBytes: Int = 16 << 20
    ) {
        self.maximumPixels = maximumPixels
        self.maximumSide = maximumSide
        self.maximumFrames = maximumFrames
        self.maximumMetadataBytes = maximumMetadataBytes
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
        try Self.require("frames", info.frameCount, atMost: maximumFrames)
        try check(metadataBytes: metadataBytes)
    }

    /// - Throws: `CodecError.limitExceeded`.
    func check(metadataBytes: Int) throws {
        try Self.require("metadata bytes", metadataBytes, atMost: maximumMetadataBytes)
    }

    private static func require(_ what: String, _ value: Int, atMost limit: Int) throws {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }
}
