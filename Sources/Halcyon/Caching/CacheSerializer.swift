import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A type that decides which bytes the disk keeps of an image.
///
/// It runs on a processor thread, after the load, with the image as it was delivered. If it throws, the disk does not keep the
/// image. It is not part of a key: images that are stored under one key by different serializers replace each other.
///
/// Concurrent loads share their work if their serializers are the same: the same object, or equal values. A `Hashable`
/// serializer defines equality itself; any others may count as different.
public protocol CacheSerializer: Sendable {
    /// Returns the bytes to keep of a finished image; nil keeps nothing.
    func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data?

    /// Returns the bytes to keep of a source whose image was requested with processors or at another size; nil keeps nothing.
    /// Returns the bytes unchanged by default.
    func data(forOriginal bytes: Data, url: URL?) throws -> Data?

    /// Returns the image in stored bytes, as a file's bytes or as another serializer made them, which is then decoded. Returns
    /// the bytes unchanged by default; a serializer
    /// that encrypts its data decrypts it here. If it throws, the look-up is a miss and the entry is removed.
    func encodedImage(in stored: Data) throws -> Data
}

extension CacheSerializer {
    public func data(forOriginal bytes: Data, url: URL?) throws -> Data? { bytes }

    public func encodedImage(in stored: Data) throws -> Data { stored }
}

/// The input of a `CacheSerializer`: an image and the facts about it.
public struct CacheSerializerInput: Sendable {
    /// The image as the load delivers it.
    public let image: Image
    /// The source's bytes; nil if the image does not show them (because it was processed) or if there are none.
    public let original: Data?
    /// Whether the image was processed, so that it differs from its source.
    public let isProcessed: Bool
    /// Whether the disk's files have readable names, by which other programs may open them.
    public let hasReadableName: Bool
    /// The URL of the image's source; nil if it has none.
    public let url: URL?
    /// The coders that can encode the image.
    public let coders: CoderRegistry

    /// Creates an input. By default the image counts as unprocessed, its file has no readable name, and the coders are the
    /// shared registry.
    public init(
        image: Image, original: Data?, isProcessed: Bool = false, hasReadableName: Bool = false, url: URL?,
        coders: CoderRegistry = .shared
    ) {
        self.image = image
        self.original = original
        self.isProcessed = isProcessed
        self.hasReadableName = hasReadableName
        self.url = url
        self.coders = coders
    }
}

/// A serializer that keeps the source's bytes if the image shows them unchanged, and otherwise the image without loss.
///
/// A processed still image is kept as its pixels, which are read in a sixth of the time of a PNG and written without an
/// encoder: 3 bytes a pixel if it is opaque, otherwise 4, so that 320 x 240 pixels take 230 kB. `.png` and `.jpeg(quality:)`
/// are smaller. If files have readable names, by which other programs open them, it
/// becomes a PNG.
///
/// An animation without its source's bytes keeps its format if that can hold it: WebP is encoded without loss; GIF, which has
/// 256 colours and no soft edges, is kept only if the image was not processed. Any other animation becomes an animated PNG, and
/// any other still image a PNG. Neither is kept if the build has no PNG encoder.
public struct DefaultCacheSerializer: CacheSerializer, Hashable {
    /// Creates a serializer; it has no parameters.
    public init() {}

    public func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        if let original = input.original { return original }
        if input.isProcessed, !input.hasReadableName, let pixels = StoredBitmap.data(of: input.image) { return pixels }
        return try Self.losslessFile(
            of: input.image, input.coders, keepsGIF: !input.isProcessed, context: context)
    }

    /// Returns a file of an image that loses nothing of it.
    ///
    /// - Parameter keepsGIF: whether the animation of a GIF has no more colours than a GIF can hold.
    static func losslessFile(
        of image: Image, _ coders: CoderRegistry, keepsGIF: Bool = false, context: WorkContext
    ) throws -> Data {
        var image = image
        let own = image.info.format
        let keeps = image.animation != nil && (own == .webp || (own == .gif && keepsGIF)) && coders.canEncode(own)
        var format: ImageFormat? = keeps ? own : coders.canEncode(.png) ? .png : nil
        // PNG's integers end at white, but in PQ.
        if let deep = image.deepBitmap, deep.format.channels == .float16, !deep.format.colorSpace.isBright {
            if coders.canEncode(.jpegXL) {
                format = .jpegXL
            } else {
                image.deepBitmap = try deep.converted(to: .init(.uint16, colorSpace: .bt2020PQ), context: context)
            }
        }
        return try coders.encode(
            image, as: format,
            options: EncodeOptions(quality: 1, isLossless: true, bitsPerChannel: image.deepBitmap == nil ? nil : 16),
            context: context)
    }
}

extension CacheSerializer where Self == DefaultCacheSerializer {
    /// A serializer that keeps the source's bytes, and otherwise the image without loss, in the form that is read the fastest.
    public static var `default`: DefaultCacheSerializer { DefaultCacheSerializer() }
}

/// A serializer that keeps every finished image in one format, whatever its source's format. A source that the image does not
/// show unchanged keeps its own bytes.
///
/// An image that the format cannot hold is kept as PNG, so that no image comes back with less than was stored: one with
/// alpha in a JPEG, or an animation in a format without frames. A vector image, and one of more than 8 bits, keeps its
/// source's bytes, and so does one whose source has a gain map unless it is kept as JPEG with the map. One of 8 bits is
/// kept in the colours that it was decoded to: sRGB also of wider colours, and of PQ and HLG.
public struct FixedFormatCacheSerializer: CacheSerializer, Hashable {
    /// The format in which images are kept if it can hold them.
    public let format: ImageFormat
    /// The options for encoding in `format`. An image that is kept as PNG instead is encoded with the defaults.
    public let options: EncodeOptions

    /// Creates a serializer for a format, with the default options unless others are given.
    public init(_ format: ImageFormat, options: EncodeOptions = EncodeOptions()) {
        self.format = format
        self.options = options
    }

    public func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        let info = input.image.info
        let fits = input.coders.canEncode(format, showing: input.image)
        // Pixels hold less than a vector image, those of 8 bits less than deep ones, and a file without its gain map less than one with.
        let holdsLess =
            info.isVector || info.bitsPerChannel > 8 || input.image.deepBitmap != nil
            || info.hasReadableGainMap && (input.image.gainMap == nil || !fits)
        if holdsLess, let original = input.original { return original }
        var options = fits ? options : EncodeOptions()
        if input.image.deepBitmap != nil, options.bitsPerChannel == nil { options.bitsPerChannel = 16 }
        return try input.coders.encode(input.image, as: fits ? format : .png, options: options, context: context)
    }
}

extension CoderRegistry {
    /// Whether a file of a format holds all of an image: its transparency and its frames.
    fileprivate func canEncode(_ format: ImageFormat, showing image: Image) -> Bool {
        guard let encoder = encoder(for: format) else { return false }
        if format == .jpeg, !image.bitmap.isOpaque { return false }
        if format != .jpeg, image.gainMap != nil { return false }
        return image.animation == nil || encoder is any AnimatedImageEncoder
    }
}

extension CacheSerializer where Self == FixedFormatCacheSerializer {
    /// A serializer that keeps every finished image as PNG.
    public static var png: FixedFormatCacheSerializer { FixedFormatCacheSerializer(.png) }
    /// A serializer that keeps every finished image as JPEG, or as PNG if it has alpha.
    ///
    /// - Parameter quality: from 0 to 1; 0.85 by default. With any other value the disk keeps none of these images.
    public static func jpeg(quality: Double = 0.85) -> FixedFormatCacheSerializer {
        FixedFormatCacheSerializer(.jpeg, options: EncodeOptions(quality: quality))
    }
    /// A serializer that keeps every finished image as GIF, with 256 colours and pixels that are either transparent or opaque.
    public static var gif: FixedFormatCacheSerializer { FixedFormatCacheSerializer(.gif) }
}

/// The identity of a serializer, so that loads share their work only if the same bytes are stored and read.
///
/// `Hashable` serializers compare themselves. Others are the same only if they are identical bit by bit: objects by identity,
/// structures by content. Some that are equal are not recognized as such, and share less.
struct SerializerKey: Hashable, Sendable {
    /// Retains the references, so that no other object can take their addresses while the key exists.
    private let serializer: any CacheSerializer
    private let type: ObjectIdentifier
    /// Nil if the serializers compare themselves.
    private let bits: [UInt8]?

    init(_ serializer: any CacheSerializer) {
        self.serializer = serializer
        type = ObjectIdentifier(Swift.type(of: serializer))
        bits = serializer is any Hashable ? nil : Self.bits(of: serializer)
    }

    private static func bits(of serializer: some CacheSerializer) -> [UInt8] {
        withUnsafeBytes(of: serializer) { Array($0) }
    }

    static func == (left: SerializerKey, right: SerializerKey) -> Bool {
        guard left.type == right.type, left.bits == right.bits else { return false }
        guard left.bits == nil, let value = left.serializer as? any Hashable else { return true }
        return isEqual(value, right.serializer)
    }

    private static func isEqual<Value: Hashable>(_ value: Value, _ other: any CacheSerializer) -> Bool {
        (other as? Value) == value
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(bits)
        if bits == nil, let value = serializer as? any Hashable { value.hash(into: &hasher) }
    }
}
