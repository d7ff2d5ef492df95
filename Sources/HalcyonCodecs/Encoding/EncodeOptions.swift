import Foundation
import HalcyonImage

/// The options for writing an image. An encoder ignores those that its format does not support.
public struct EncodeOptions: Hashable, Sendable {
    /// The quality of lossy formats, from 0 (smallest) to 1 (best). 0.85 by default. With any other value, encoding fails
    /// (`CodecError.encodingFailed`), in lossless formats as well.
    public var quality: Double {
        get { storedQuality.value }
        set { storedQuality = KeyNumber(value: newValue) }
    }
    /// Whether WebP, AVIF and JPEG XL keep every pixel as it is, and HEIC as nearly as x265 can. False by default.
    public var isLossless: Bool
    /// The bits of a channel in the file, from 1 to 16, for an image with deep pixels (`Image.deepBitmap`), whose colour space it then has.
    /// Nil, the default, and all up to 8 write `Image.bitmap` with 8 bits, as all formats but PNG, AVIF and JPEG XL do in any
    /// case.
    ///
    /// PNG has 16 for all above 8, AVIF 10 up to 10 and otherwise 12. JPEG XL has 16, of which pixels of floating-point numbers stay
    /// that. An image without deep pixels is written with 8, as is an animation. With any other value, encoding fails
    /// (`CodecError.encodingFailed`).
    public var bitsPerChannel: Int?
    /// The colour that transparent pixels are composited onto in formats without alpha. White by default.
    public var background: Background
    /// Whether a JPEG or a JPEG XL is written in scans of increasing detail. False by default. libjxl 0.7 does it for lossless files
    /// only.
    public var isProgressive: Bool
    /// The time that is spent on a small file, from 0 (fast) to 1 (small): the levels 1 to 9 of JPEG XL, the methods 0 to 6 of WebP, the
    /// speeds 10 to 0 of AVIF, of which an animation has 6 at most. Other values count as the nearest. Nil, the default, is 0.75 for JPEG XL, 0.67 for WebP and 0.3 for AVIF.
    public var effort: Double? {
        get { storedEffort?.value }
        set { storedEffort = newValue.map { KeyNumber(value: $0) } }
    }

    /// The maximum number of pixels on either side. A larger image is reduced, keeping its aspect ratio. Nil, the
    /// default, is no limit.
    public var maximumSide: Int?
    /// The maximum size of the file in bytes. A lossy format uses the best quality, up to `quality`, that fits; a
    /// lossless one ignores the limit. Nil, the default, is no limit.
    public var maximumBytes: Int?
    /// Whether an animation is written as a still image. False by default.
    public var firstFrameOnly: Bool

    /// Whether the pixels are stored in the orientation of the source, which the file then declares, instead of
    /// upright. Stills of JPEG, PNG, WebP, AVIF and JPEG XL support this. False by default.
    public var keepsOrientation: Bool
    /// Whether pixels that are not sRGB stay as they are, with their profile in the file, if the format supports
    /// profiles (stills of JPEG, PNG, WebP, AVIF and JPEG XL); otherwise they are converted. True by default.
    public var keepsColorProfile: Bool

    /// Whether a JPEG has a thumbnail of itself in its EXIF data, or an opaque HEIC one among its items, of 160 pixels on the longer
    /// side, which file managers show and `DecodeOptions.usesEmbeddedThumbnail` decodes. An image that is no larger has none,
    /// nor has a HEIC of more than 5:2. Some 4 KB; false by default.
    public var embedsThumbnail: Bool

    /// Whether a JPEG of an image with a gain map (`Image.gainMap`) has the map as well, in a better quality than the
    /// picture. Other formats are written without, and so is a JPEG that is within `maximumBytes` only without. True by
    /// default; an image has none unless its decode was asked for it.
    public var keepsGainMap: Bool

    /// The maximum number of pixels of all frames of an animation together. An animation with more is refused before
    /// any frame is encoded. 2^32 by default. With `maximumBytes`, all of them may be encoded eight times. The limit
    /// has no effect on the bytes of a file.
    public var maximumTotalPixels: Int

    /// The score by which the quality is found, in the place of `quality`. Nil, the default, looks for none. A lossless
    /// encoding ignores it.
    ///
    /// The quality of an animation is found with its first frame. Where the file has more than `maximumBytes`, the quality is reduced as
    /// that says. More than 8 bits a channel have no score, nor has a format that nothing decodes: encoding fails
    /// (`CodecError.encodingFailed`). Cost: up to four encodes and decodes, and 28 bytes for each pixel.
    public var qualityTarget: QualityTarget?

    private var storedQuality: KeyNumber
    private var storedEffort: KeyNumber?

    /// Creates options; omitted arguments take the defaults that the properties state.
    public init(
        quality: Double = 0.85, isLossless: Bool = false, background: Background = .white, isProgressive: Bool = false,
        maximumSide: Int? = nil, maximumBytes: Int? = nil, firstFrameOnly: Bool = false,
        keepsOrientation: Bool = false, keepsColorProfile: Bool = true,
        maximumTotalPixels: Int = 1 << 32, embedsThumbnail: Bool = false, effort: Double? = nil,
        bitsPerChannel: Int? = nil, keepsGainMap: Bool = true, qualityTarget: QualityTarget? = nil
    ) {
        storedQuality = KeyNumber(value: quality)
        self.isLossless = isLossless
        self.background = background
        self.isProgressive = isProgressive
        self.maximumSide = maximumSide
        self.maximumBytes = maximumBytes
        self.firstFrameOnly = firstFrameOnly
        self.keepsOrientation = keepsOrientation
        self.keepsColorProfile = keepsColorProfile
        self.maximumTotalPixels = maximumTotalPixels
        self.embedsThumbnail = embedsThumbnail
        self.keepsGainMap = keepsGainMap
        storedEffort = effort.map { KeyNumber(value: $0) }
        self.qualityTarget = qualityTarget
        self.bitsPerChannel = bitsPerChannel
    }

    /// Whether more than 8 bits a channel are asked for.
    package var isDeep: Bool { bitsPerChannel ?? 8 > 8 }

    /// Returns the orientation that a file written with these options declares.
    public func storedOrientation(of image: Image) -> Orientation {
        keepsOrientation ? image.info.orientation : .up
    }

    /// Adds the options that affect the encoded bytes to a cache key.
    package func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.encode", version: qualityTarget == nil ? 6 : 7)
        key.encode(quality)
        key.encode(isLossless)
        key.encode(background.packed)
        key.encode(isProgressive)
        key.encode(maximumSide)
        key.encode(maximumBytes)
        key.encode(firstFrameOnly)
        key.encode(keepsOrientation)
        key.encode(keepsColorProfile)
        key.encode(embedsThumbnail)
        key.encode(effortLevel(1000))
        key.encode(keepsGainMap)
        key.encode(bitsPerChannel)
        qualityTarget?.encode(into: &key)
    }

    /// Returns the effort as a level from 0 to `most`; nil for the default.
    package func effortLevel(_ most: Int) -> Int? {
        guard let effort, !effort.isNaN else { return nil }
        return Int((min(max(effort, 0), 1) * Double(most)).rounded())
    }

    /// Checks the number of bits.
    ///
    /// - Throws: `CodecError.encodingFailed` for one that is not from 1 to 16.
    func checkBits(for format: ImageFormat) throws {
        guard (1...16).contains(bitsPerChannel ?? 8) else {
            throw CodecError.encodingFailed(
                format, reason: "a channel has from 1 to 16 bits, and not \(bitsPerChannel ?? 8)")
        }
    }

    /// Returns the quality.
    ///
    /// - Throws: `CodecError.encodingFailed` for one that is not from 0 to 1.
    package func checkedQuality(for format: ImageFormat) throws -> Double {
        guard (0...1).contains(quality) else {
            throw CodecError.encodingFailed(format, reason: "the quality is from 0 to 1, and not \(quality)")
        }
        return quality
    }
}

extension EncodeOptions {
    /// Returns the quality at which a lossy JPEG XL is at a distance of libjxl's measure from its picture: at 1, hardly anybody sees a
    /// difference.
    ///
    /// The curve is the one by which libjxl's tool cjxl understands the quality of JPEG.
    ///
    /// - Parameter distance: from 0.1 to 15. Others count as the nearest of these.
    public static func quality(jpegXLDistance distance: Double) -> Double {
        let distance = min(max(distance, 0.1), 15)
        guard distance > 6.4 else { return max(0.3, 1 - (distance - 0.1) / 9) }
        // The curve has a step here, of which the lower end is what it begins with.
        return min(0.3, 0.3 - log((distance - 6.4) * 6.25) / log(2.5) / 20)
    }

    /// An opaque sRGB colour.
    public struct Background: Hashable, Sendable {
        /// The red component, from 0 to 255.
        public var red: UInt8
        /// The green component, from 0 to 255.
        public var green: UInt8
        /// The blue component, from 0 to 255.
        public var blue: UInt8

        /// Creates a colour from its components, from 0 to 255.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }

        /// The colour white: 255 in each component.
        public static let white = Background(red: 255, green: 255, blue: 255)
        /// The colour black: 0 in each component.
        public static let black = Background(red: 0, green: 0, blue: 0)

        /// The colour as `0xRRGGBB`.
        var packed: Int { Int(red) << 16 | Int(green) << 8 | Int(blue) }
    }
}
