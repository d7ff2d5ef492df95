/// The facts about an image in the header of its file.
public struct ImageInfo: Hashable, Sendable {
    /// The format of the file; `.bitmap` for pixels that do not come from a file.
    public var format: ImageFormat
    /// The upright size in pixels: after the orientation is applied.
    public var size: PixelSize
    /// The number of frames; 1 for a still image.
    public var frameCount: Int
    /// The number of times an animation plays, 0 for endlessly; nil for a still image.
    public var loopCount: Int?
    /// Whether the image may have transparent pixels, according to its header.
    public var hasAlpha: Bool
    /// The bits of one channel as stored, 1 to 16.
    public var bitsPerChannel: Int
    /// The orientation declared in the file; decoded pixels are upright already.
    public var orientation: Orientation
    /// The colour space declared in the file; decoded pixels are sRGB already, unless `Image.colorProfile` is set.
    public var colorSpace: ColorSpace
    /// Whether the image is drawn at any requested size; `size` is then only its natural size.
    public var isVector: Bool
    /// Whether the image was made of a part of its file: before the whole of it had arrived, or because it was cut off
    /// (`DecodeOptions.allowsIncomplete`). No cache keeps such an image.
    public var isPreview = false
    /// Whether the file has a gain map beside its picture, by which displays of a high dynamic range show it brighter: an Ultra HDR
    /// JPEG, or an AVIF, HEIC or JPEG XL that has one. The decoded pixels are those of the picture alone. `Image.gainMap` is the map of a
    /// JPEG, if the decode was asked for it.
    public var hasGainMap = false

    /// Creates the facts about an image; by default those of a still, opaque, upright image with 8 bits a channel in
    /// sRGB.
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

    /// Whether the image has more than one frame.
    public var isAnimated: Bool { frameCount > 1 }

    /// The size in pixels as stored, before the orientation is applied.
    public var storedSize: PixelSize { orientation.applied(to: size) }
}

/// The colour space that a file declares for its pixels. Decoded pixels are sRGB unless the decode left them as stored.
public enum ColorSpace: Hashable, Sendable, CustomStringConvertible {
    /// The sRGB colour space, which is also assumed for a file that declares none.
    case sRGB
    /// Grey of one channel, without an ICC profile.
    case gray
    /// Cyan, magenta, yellow and black, without an ICC profile.
    case cmyk
    /// An embedded ICC profile, with its description, or an empty string if it has none.
    case icc(String)

    /// `sRGB`, `gray`, `cmyk`, the profile's description, or `icc` if it has none.
    public var description: String {
        switch self {
        case .sRGB: "sRGB"
        case .gray: "gray"
        case .cmyk: "cmyk"
        case .icc(let name): name.isEmpty ? "icc" : name
        }
    }
}
