import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing

/// What a finished image is: its source, how it is decoded, what is made of it. The key in memory is the value itself,
/// its hash computed once; behind a reference, since caches copy their keys.
public struct ImageKey: Hashable, Sendable {
    private final class Parts: Sendable {
        let source: String
        let decode: DecodeOptions
        let processors: [any ImageProcessor]
        let coders: CoderRegistry?
        let hash: Int

        init(source: String, decode: DecodeOptions, processors: [any ImageProcessor], coders: CoderRegistry?) {
            self.source = source
            self.decode = decode
            self.processors = processors
            self.coders = coders
            var hasher = Hasher()
            // By bytes: texts that Swift takes for equal, as composed and decomposed letters, may be different sources.
            ExactText(source).hash(into: &hasher)
            // The few that differ in one program; `==` looks at all of them.
            hasher.combine(decode.target)
            hasher.combine(decode.region)
            for processor in processors { hasher.combine(processor) }
            hash = hasher.finalize()
        }
    }

    private let parts: Parts

    /// The text by which the caches know the source: a URL's own, a request's `cacheKey`, or what was given.
    public var source: String { parts.source }
    public var decode: DecodeOptions { parts.decode }
    public var processors: [any ImageProcessor] { parts.processors }
    /// The request's own coders, which may see another image in the same bytes; kept, so that no other registry takes
    /// its place in memory.
    var coders: CoderRegistry? { parts.coders }

    public init(source: String, decode: DecodeOptions = DecodeOptions(), processors: [any ImageProcessor] = []) {
        self.init(source: source, decode: decode, processors: processors, coders: nil)
    }

    init(source: String, decode: DecodeOptions, processors: [any ImageProcessor], coders: CoderRegistry?) {
        parts = Parts(source: source, decode: decode, processors: processors.flattened, coders: coders)
    }

    public static func == (left: ImageKey, right: ImageKey) -> Bool {
        let (left, right) = (left.parts, right.parts)
        if left === right { return true }
        guard left.hash == right.hash, left.coders === right.coders,
            ExactText(left.source) == ExactText(right.source),
            left.decode == right.decode,
            left.processors.count == right.processors.count
        else { return false }
        return zip(left.processors, right.processors).allSatisfy { $0.isEqual(to: $1) }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts.hash)
    }

    /// As computed once: `MemoryCache` asks for it at each look.
    public var hashValue: Int { parts.hash }

    /// Whether the image differs from its source's, so that it is worth a place of its own on disk.
    public var isProcessed: Bool { !processors.isEmpty || decode.changesSize }

    /// Whether the disk may keep the image: a registry has no name that would outlive the process.
    var isStorable: Bool { coders == nil }

    /// The image before any processor, whole.
    var unprocessed: ImageKey {
        var decode = decode
        (decode.target, decode.maximumBytes, decode.region) = (nil, nil, nil)
        return ImageKey(source: source, decode: decode, processors: [], coders: coders)
    }

    /// Names the source's bytes on disk. A cache whose files have readable names calls them by the source.
    public var originalDiskKey: DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.original", version: 1)
        encoder.encode(source)
        return DiskKey(encoder, name: source)
    }

    /// Names the finished image on disk.
    public var processedDiskKey: DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.processed", version: 1)
        encode(into: &encoder)
        // Not the source's name: that is taken.
        return DiskKey(encoder, name: "\(source)@\(DiskKey(encoder).fileName)")
    }

    /// Writes what makes the finished image different from all others.
    func encode(into encoder: inout KeyEncoder) {
        encoder.encode(source)
        decode.encode(into: &encoder)
        encoder.encode(processors.count)
        // Each behind its length, so that one with a list cannot be read as one without and the next.
        for processor in processors { encoder.encode(nested: { processor.encode(into: &$0) }) }
    }
}
