import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// The identity of a finished image: its source, its decode options and its processors. The value itself is the key in memory;
/// its hash is computed once. The parts are stored by reference because caches copy their keys.
public struct ImageKey: Hashable, Sendable {
    private final class Parts: Sendable {
        let source: String
        let decode: DecodeOptions
        let processors: [any ImageProcessor]
        let coders: CoderRegistry?
        let user: KeyedHash?
        let hash: Int

        init(
            source: String, decode: DecodeOptions, processors: [any ImageProcessor], coders: CoderRegistry?,
            user: KeyedHash?
        ) {
            self.source = source
            // The caches have whole images only, so that a request which allows others finds the same ones.
            var decode = decode
            decode.allowsIncomplete = false
            self.decode = decode
            self.processors = processors
            self.coders = coders
            self.user = user
            var hasher = Hasher()
            // Hashed by bytes: strings that `String` treats as equal, as composed and decomposed letters, may be different
            // sources.
            source.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            // Only the options that commonly differ within a program; `==` compares all of them.
            if let target = decode.target { hasher.combine(target) }
            if let region = decode.region { hasher.combine(region) }
            for processor in processors { hasher.combine(processor) }
            if let user { hasher.combine(user) }
            hash = hasher.finalize()
        }

        func isEqual(to other: Parts) -> Bool {
            hash == other.hash && coders === other.coders && user == other.user && source.hasSameBytes(as: other.source)
                && decode == other.decode && processors.isEqual(to: other.processors)
        }
    }

    private let parts: Parts

    /// The text by which the caches know the source: the text of its URL, a request's `cacheKey`, or the given string.
    public var source: String { parts.source }
    /// The decode options of the image. `allowsIncomplete` is false, since no incomplete image is kept under a key.
    public var decode: DecodeOptions { parts.decode }
    /// The processors of the image in order, with chains replaced by their processors.
    public var processors: [any ImageProcessor] { parts.processors }
    /// The request's own coders, which may decode the same bytes to another image. Retained so that no other registry can reuse
    /// their identity while the key is in memory.
    var coders: CoderRegistry? { parts.coders }
    /// The user of the image: a hash of the request's credentials. Nil for a request without any; images whose response is
    /// shared (`HTTPCacheMetadata.isShared`) are stored without a user.
    var user: KeyedHash? { parts.user }

    /// Creates a key.
    ///
    /// - Parameter source: the text of the source. The user and password of a URL are removed from it; the key is then that of
    ///   the URL for this user.
    public init(source: String, decode: DecodeOptions = DecodeOptions(), processors: [any ImageProcessor] = []) {
        let (source, user) = SourceText.withoutUser(source)
        self.init(source: source, decode: decode, processors: processors, coders: nil, user: user)
    }

    init(
        source: String, decode: DecodeOptions, processors: [any ImageProcessor], coders: CoderRegistry?,
        user: KeyedHash?
    ) {
        let processors = processors.isEmpty ? processors : processors.flattened
        parts = Parts(source: source, decode: decode, processors: processors, coders: coders, user: user)
    }

    /// Returns the key of the same image for another user, or of the shared image if the user is nil.
    func of(_ user: KeyedHash?) -> ImageKey {
        guard user != self.user else { return self }
        return ImageKey(source: source, decode: decode, processors: processors, coders: coders, user: user)
    }

    /// Returns the key under which an image is stored: the shared one if its response is shared.
    func storageKey(for http: HTTPCacheMetadata?) -> ImageKey {
        user != nil && http?.isShared == true ? of(nil) : self
    }

    /// Returns the key under which an image of a source with these facts is stored. An image of a source without a gain map is the same
    /// whether the map was asked for or not.
    func storageKey(for http: HTTPCacheMetadata?, _ info: ImageInfo) -> ImageKey {
        let key = storageKey(for: http)
        return decode.decodesGainMap && !info.hasReadableGainMap ? key.withGainMap(false) : key
    }

    /// The keys of the image with and without a gain map, this one first. What is removed is removed under both.
    var withAndWithoutGainMap: [ImageKey] { [self, withGainMap(!decode.decodesGainMap)] }

    /// Returns the key of the same image with or without a gain map.
    func withGainMap(_ decodesGainMap: Bool) -> ImageKey {
        guard decode.decodesGainMap != decodesGainMap else { return self }
        var decode = decode
        decode.decodesGainMap = decodesGainMap
        return ImageKey(source: source, decode: decode, processors: processors, coders: coders, user: user)
    }

    /// Whether a shared entry may answer for a key with a user: its response is shared, or the program has stored it itself.
    static func isForAll(_ http: HTTPCacheMetadata?) -> Bool { http?.isShared ?? true }

    public static func == (left: ImageKey, right: ImageKey) -> Bool {
        left.parts === right.parts || left.parts.isEqual(to: right.parts)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts.hash)
    }

    /// The precomputed hash, which `MemoryCache` reads at each look-up.
    public var hashValue: Int { parts.hash }

    /// Whether the image differs from its source, so that it has an entry of its own on disk.
    public var isProcessed: Bool { !processors.isEmpty || decode.changesSize }

    /// Whether the disk may keep the image. An image of the request's own coders is not stored, since a registry has no name
    /// that outlives the process, nor one with deep pixels, which none of the stored forms keeps.
    var isStorable: Bool { coders == nil && decode.depth == nil }

    /// The key of the whole image before any processor.
    var unprocessed: ImageKey {
        var decode = decode
        (decode.target, decode.maximumBytes, decode.region) = (nil, nil, nil)
        return ImageKey(source: source, decode: decode, processors: [], coders: coders, user: user)
    }

    /// The disk key of the source's bytes. A cache with readable file names uses the source as the name.
    public var originalEntryKey: CacheKey {
        var encoder = KeyEncoder()
        // The first version had no users.
        encoder.encode(type: "halcyon.original", version: 2)
        encoder.encode(source)
        return CacheKey(encoder, name: source).of(user, isLocal: isOfFile)
    }

    /// The key by which processes that share a store claim the renewal of the source's bytes. It never has an entry.
    var renewalKey: CacheKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.original.renewal", version: 1)
        encoder.encode(source)
        return CacheKey(encoder, name: "\(source)@renewal").of(user, isLocal: isOfFile)
    }

    /// The disk key of the finished image.
    public var processedEntryKey: CacheKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.processed", version: 2)
        encode(into: &encoder)
        // The source's name is taken by the original.
        return CacheKey(encoder, name: "\(source)@\(CacheKey(encoder).fileName)").of(user, isLocal: isOfFile)
    }

    /// Whether the source is a file, which another machine has not, or has another one in its place.
    var isOfFile: Bool { source.utf8.starts(with: "file:".utf8) }

    /// Encodes everything that distinguishes the finished image from others.
    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(source)
        decode.encode(into: &encoder)
        encoder.encode(processors.count)
        // Each is preceded by its length, so that a processor with a list cannot be read as one without a list and the next
        // one.
        for processor in processors { encoder.encode(nested: { processor.encode(into: &$0) }) }
    }
}

/// Splits the user out of a source's text if that is a URL.
enum SourceText {
    static func withoutUser(_ text: String) -> (text: String, user: KeyedHash?) {
        // Searched by bytes: file names that contain @2x are looked up as often as others.
        guard text.contains(byte: UInt8(ascii: "@")), let start = authority(in: text.utf8) else { return (text, nil) }
        let authority = text.utf8[start...].prefix { !ends.contains($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return (text, nil) }
        var plain = text
        // The answers of a server may be for all users. Bytes of a program are only those of their own key, so their text stays
        // another one than that without a user.
        let isOwn = text.hasPrefix("provider:") || text.hasPrefix("data-key:")
        plain.removeSubrange(start..<(isOwn ? at : text.utf8.index(after: at)))
        let parts = text[start..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let (user, password) = (Self.plain(parts.first), Self.plain(parts.dropFirst().first))
        return (plain, KeyedHash(.basic(user: user, password: password)))
    }

    /// The bytes that end the authority of a URL, in which a user may stand.
    private static let ends = Array("/?#\\".utf8)

    /// Returns the start of the authority: after the first `://`.
    private static func authority(in text: String.UTF8View) -> String.Index? {
        var rest = text[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[text.index(after: colon)...]
            if rest.starts(with: "//".utf8) { return text.index(rest.startIndex, offsetBy: 2) }
        }
        return nil
    }

    private static func plain(_ text: Substring?) -> String {
        text.map { $0.removingPercentEncoding ?? String($0) } ?? ""
    }
}

extension KeyedHash {
    /// Creates the hash of a user who is identified by a credential alone.
    init?(_ credential: Credential) {
        self.init(
            user: nil, credential: credential, headers: HTTPHeaders().showing(credential), fields: .standard)
    }
}

extension ImageKey {
    /// The steps from the source's bytes to the image: the decode, and the processors after it. A leading resize becomes part
    /// of the decode, which then reads no more of the image than it needs; its sharpening stays a processor.
    var steps: (decode: DecodeOptions, processors: [any ImageProcessor]) {
        guard decode.target == nil, let resize = processors.first as? ResizeProcessor, resize.filter == .lanczos
        else { return (decode, processors) }
        var options = decode
        options.target = TargetSize(
            resize.size, mode: resize.mode, upscale: resize.upscale, light: resize.light)
        let sharpening = ReductionSharpening(of: resize, in: decode.region).map { [$0] } ?? []
        return (options, sharpening + processors.dropFirst())
    }

    /// The decode options for the finished image on disk, which already has its size and region.
    var finishedOptions: DecodeOptions {
        DecodeOptions(
            color: decode.color, preloadAllFrames: decode.preloadAllFrames, limits: decode.limits,
            isolation: decode.isolation, decodesGainMap: decode.decodesGainMap)
    }

    /// Whether the image shows everything that its source has, so that bytes encoded from it may replace the source's.
    var showsAllOfItsSource: Bool {
        !isProcessed && !decode.firstFrameOnly && decode.color == .sRGB && isStorable
    }

    /// Whether the image is whole, at its own size or fitted into a box, so that a larger one can replace it.
    private var isWhole: Bool {
        processors.isEmpty && decode.region == nil && (decode.target.map { $0.mode == .fit } ?? true)
    }

    /// Whether a larger image of the same source may be used instead of this one.
    var admitsLarger: Bool { isWhole && decode.maximumBytes == nil }

    /// Whether the image of another key shows the same picture, provided that it is large enough.
    func isSamePicture(as other: ImageKey) -> Bool {
        ExactString(source) == ExactString(other.source) && (user == other.user || user == nil)
            && coders === other.coders
            && isWhole && other.isWhole
            // A whole image was averaged in no light yet.
            && (decode.target == nil || decode.target?.light == other.decode.target?.light ?? .encoded)
            && decode.color == other.decode.color && decode.depth == other.decode.depth
            && decode.keepsDynamicRange == other.decode.keepsDynamicRange
            && decode.firstFrameOnly == other.decode.firstFrameOnly
            // A picture with a gain map keeps the colours of its file.
            && decode.decodesGainMap == other.decode.decodesGainMap
            // A thumbnail may show something else than its picture, which is good for both.
            && (other.decode.usesEmbeddedThumbnail || !decode.usesEmbeddedThumbnail)
    }

    /// Returns the size in pixels that the image gets from a source of this size, for a key that admits larger images.
    func wantedSize(of source: PixelSize) -> PixelSize {
        guard let target = decode.target else { return source }
        return ResizeGeometry(source: source, box: target.size, mode: target.mode, upscale: target.upscale).size
    }
}

/// A string compared by its bytes. `String` treats composed and decomposed letters as equal.
struct ExactString: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactString, right: ExactString) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A terminator separates the text from the value that is hashed next.
        hasher.combine(0xFF as UInt8)
    }
}
