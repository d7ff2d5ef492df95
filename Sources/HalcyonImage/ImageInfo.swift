/// What a file's header says about its image.
public struct ImageInfo: Hashable, Sendable {
    public var format: ImageFormat
    /// Pixels, upright: after the orientation is applied.
    public var size: PixelSize
    /// Frames; 1 for a still image.
    public var frameCount: Int
    /// How often an animation plays, 0 for ever; nil for a still image.
    public var loopCount: Int?
    public var hasAlpha: Bool
    /// Bits of one channel as stored, 1 to 16.
    public var bitsPerChannel: Int
    /// As found in the file; decoded pixels are upright already.
    public var orientation: Orientation
    /// As found in the file; decoded pixels are sRGB already, unless `Image.colorProfile` says otherwise.
    public var colorSpace: ColorSpace
    /// Whether it is drawn at whatever size is asked for; `size` is then only its own.
    public var isVector: Bool
    /// Whether the image was made before all of its file was there.
    public var isPreview = false

    public init(
        format: ImageFormat, size: PixelSize, frameCount: Int = 1, loopCount: Int? = nil, hasAlpha: Bool = false,
        bitsPerChannel: Int = 8, orientation: Orientation = .up, colorSpace: ColorSpace = .sRGB, isVector: Bool = false
    ) {
        self.format = format
        self.size = size
        self.frameCount = frameCount
        self.loopCount = loopCount
        self.hasAlpha = hasAlpha
        self.bitsPerChannel = bitsPerChannel
        self.orientation = orientation
        self.colorSpace = colorSpace
        self.isVector = isVector
    }

    public var isAnimated: Bool { frameCount > 1 }

    /// Pixels as stored, before the orientation is applied.
    public var storedSize: PixelSize { orientation.applied(to: size) }
}
