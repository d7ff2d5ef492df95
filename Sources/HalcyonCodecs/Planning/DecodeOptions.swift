import HalcyonImage

/// The options of a decode: the size of the result and the limits on the file.
public struct DecodeOptions: Hashable, Sendable {
    /// The size to decode for; nil keeps the source's own size.
    public var target: TargetSize?
    /// The maximum number of bytes of the pixels of one frame. A larger image is scaled down with its aspect ratio
    /// kept, to 1x1 at the least. Nil is no limit.
    public var maximumBytes: ByteLimit?
    /// The part of the image to decode, in pixels of the upright image at its full size; nil is all of it. The target
    /// and the byte limit then apply to the part. For an image of several frames, it is the part of each frame.
    ///
    /// The region is clamped to the image; if nothing is left, the decode throws `BitmapError.invalidSize`. Cost: the
    /// time of a whole decode, and, for a JPEG or a PNG that is not interlaced, the memory of the part.
    public var region: PixelRect?
    /// The handling of colours that are not sRGB. They are converted by default.
    public var color: ColorHandling
    /// The format of pixels of 16 bits a channel that the image has beside its `bitmap` (`Image.deepBitmap`). Nil, the default, makes
    /// none.
    ///
    /// They come from all bits of PNG, AVIF, HEIC, JPEG XL and of TIFF in grey and RGB, in one decode with the pixels
    /// of 8 bits, and are converted to the colour space that the format names, whatever `color` says of the others;
    /// size, region and light apply to both. A source of 8 bits, and one of which a coder delivers no more, has its
    /// values times 257. For an animation there are none, unless `firstFrameOnly` is set, nor are there any in
    /// previews. A thumbnail in the file is not used, and no finished image is kept on disk: it is made again from its
    /// source.
    ///
    /// Cost: 8 bytes for each pixel of the stored image, which is decoded as a whole, and 10 to 130 ns for each that is converted to
    /// another space, most to PQ.
    public var depth: DeepBitmap.Format?
    /// Whether the deep pixels of a source in PQ or HLG are in BT.2020 with the source's curve, in the place of the space that `depth`
    /// names, so that they have all of its light. False by default; without `depth` it has no effect.
    ///
    /// Other sources have the space that `depth` names. `DeepBitmap.format` tells which it is.
    public var keepsDynamicRange: Bool
    /// Whether an animation becomes a still image. False by default.
    public var firstFrameOnly: Bool
    /// Whether all frames of an animation are decoded at once and kept, instead of on demand. False by default.
    public var preloadAllFrames: Bool
    /// Whether the thumbnail that a file has of its own picture is decoded in place of the picture, where it has at least
    /// the pixels of the result. False by default: a program that edits a picture may leave the thumbnail as it was.
    ///
    /// JPEG files of cameras have one of 160x120 pixels or more in their EXIF data, those of HEIC one of 320x240 pixels among their
    /// items. It is used for a result that `target` or `maximumBytes` make small enough, in sRGB, in encoded light, without a `region`,
    /// and if it has the picture's aspect ratio and decodes; in HEIC and AVIF also only if it is turned as the picture is, and if that
    /// has no alpha. Otherwise the picture itself is decoded. `Image.info` describes the picture. Only the header of the
    /// file proves then that it is an image. Cost: two decodes of the thumbnail, some 0.3 ms each.
    public var usesEmbeddedThumbnail: Bool
    /// Whether a file that was cut off is decoded to what there is of it. False by default: it is `CodecError.damaged`.
    ///
    /// Applies to JPEG, PNG, GIF, WebP, BMP and TIFF whose header is there, and at least one row, scan, strip or row of
    /// tiles. Pixels that are missing are transparent; in a JPEG of several scans, they are as coarse as its scans, and
    /// grey before the first one. An animation has the frames that are whole, or the first frame alone as far as it is there
    /// (GIF, APNG). The image says so in `ImageInfo.isPreview`, and no cache keeps it. A file whose data is invalid before its
    /// end stays damaged, and so does every other format.
    ///
    /// Cost: nothing for a whole file but the reservation of two more bitmaps and the length of the data; a second decode for
    /// one that was cut off.
    public var allowsIncomplete: Bool
    /// Whether `Image.gainMap` is decoded, for a file that has one (`ImageInfo.hasGainMap`): a JPEG. False by default.
    ///
    /// The map is cut, scaled and turned as the picture is, and keeps its ratio to the picture's pixels. Since gains apply to colours
    /// as they are stored, the colours of such a picture are not converted, whatever `color` says (`Image.colorProfile`). Nil for a map
    /// that is damaged, exceeds the limits or is larger than its picture, for previews, and with a thumbnail in the picture's place.
    /// Cost: the time and memory of decoding the map.
    public var decodesGainMap: Bool
    /// The limits on the values that the header may declare.
    public var limits: DecodeLimits

    /// The place where the file is decoded. Nil, the default, is that of the pipeline's configuration, and without a pipeline
    /// this process.
    ///
    /// It changes no pixel: options that differ in nothing else are equal. Its cost is that of docs/Isolation.md.
    public var isolation: DecodeIsolation? {
        get { place.value }
        set { place.value = newValue }
    }
    private var place: Uncompared<DecodeIsolation?>

    /// Creates options; omitted arguments take the defaults that the properties state.
    public init(
        target: TargetSize? = nil, maximumBytes: ByteLimit? = nil, region: PixelRect? = nil,
        color: ColorHandling = .sRGB, firstFrameOnly: Bool = false, preloadAllFrames: Bool = false,
        allowsIncomplete: Bool = false, limits: DecodeLimits = DecodeLimits(), usesEmbeddedThumbnail: Bool = false,
        isolation: DecodeIsolation? = nil, decodesGainMap: Bool = false, depth: DeepBitmap.Format? = nil,
        keepsDynamicRange: Bool = false
    ) {
        self.target = target
        self.maximumBytes = maximumBytes
        self.region = region
        self.color = color
        self.firstFrameOnly = firstFrameOnly
        self.preloadAllFrames = preloadAllFrames
        self.allowsIncomplete = allowsIncomplete
        self.limits = limits
        self.usesEmbeddedThumbnail = usesEmbeddedThumbnail
        self.decodesGainMap = decodesGainMap
        self.depth = depth
        self.keepsDynamicRange = keepsDynamicRange
        place = Uncompared(isolation)
    }

    /// Whether the result may have fewer pixels than the file.
    package var changesSize: Bool { target != nil || maximumBytes != nil || region != nil }

    /// Encodes the options that change the decoded pixels. The limits do not change them, they only refuse a file;
    /// neither does the time at which the frames are decoded. An incomplete image is never kept under a key.
    package func encode(into key: inout KeyEncoder) {
        let light = target?.light ?? .encoded
        // Images that were stored before there was a choice keep their names.
        let isNew = decodesGainMap || depth != nil
        let keepsLight = keepsDynamicRange && depth != nil
        key.encode(type: "halcyon.decode", version: keepsLight ? 7 : isNew ? 6 : light == .encoded ? 4 : 5)
        key.encode(target != nil)
        if let target {
            key.encode(target.size)
            key.encode(target.mode.rawValue)
            key.encode(target.upscale)
        }
        key.encode(maximumBytes?.bytes)
        key.encode(region != nil)
        if let region {
            for value in [region.x, region.y, region.size.width, region.size.height] { key.encode(value) }
        }
        key.encode(color.rawValue)
        key.encode(firstFrameOnly)
        key.encode(usesEmbeddedThumbnail)
        if light != .encoded || isNew { key.encode(light.rawValue) }
        if isNew {
            key.encode(decodesGainMap)
            key.encode(depth?.channels.rawValue ?? "")
            key.encode(depth?.colorSpace.rawValue ?? "")
        }
    }
}

/// The box to decode an image for, in pixels of the upright image.
public struct TargetSize: Hashable, Sendable {
    /// The size of the box, at least 1 on each side. `Int.max` on a side of a fit or stretch box leaves that side free,
    /// unless `upscale` is true: then a side beyond `Bitmap.maximumSide` is `BitmapError.invalidSize`.
    public var size: PixelSize
    /// The way in which the image is fitted to the box. `.fit` by default.
    public var mode: ResizeMode
    /// Whether the result may be larger than the source. False by default.
    public var upscale: Bool
    /// The light in which the pixels are averaged. `.encoded` by default.
    ///
    /// In linear light, a JPEG or WebP is decoded at its full size, since these decoders average in encoded light, and takes
    /// the time and, if it is not decoded row by row, the memory of that. Colours that are converted to sRGB are so before they are
    /// averaged, and a thumbnail in the file is not used.
    public var light: ResizeLight

    /// Creates a box of pixels; omitted arguments take the defaults that the properties state.
    public init(_ size: PixelSize, mode: ResizeMode = .fit, upscale: Bool = false, light: ResizeLight = .encoded) {
        self.size = size
        self.mode = mode
        self.upscale = upscale
        self.light = light
    }
}

/// The maximum number of bytes that the pixels of a frame may take, at four bytes a pixel.
public struct ByteLimit: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number of bytes; less than 4 counts as one pixel.
    public var bytes: Int

    /// Creates a limit from a number of bytes.
    public init(_ bytes: Int) { self.bytes = bytes }

    public init(integerLiteral value: Int) { bytes = value }

    /// 60 MiB, about 15.7 million pixels: enough to show a large photograph without visible loss.
    public static let large = ByteLimit(60 << 20)
}

/// A value that does not count when its owner is compared or hashed.
struct Uncompared<Value: Sendable>: Hashable, Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (left: Self, right: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
