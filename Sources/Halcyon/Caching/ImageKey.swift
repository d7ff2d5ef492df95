import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing

/// What a finished image is: its source, how it is decoded, what is made of it. The key in memory is the value itself,
/// and its hash is computed once.
struct ImageKey: Hashable, Sendable {
    let source: String
    let decode: DecodeOptions
    let processors: [any ImageProcessor]
    /// The request's own coders, which may see another image in the same bytes; kept, so that no other registry takes
    /// its place in memory.
    let coders: CoderRegistry?
    private let hash: Int

    init(source: String, decode: DecodeOptions, processors: [any ImageProcessor], coders: CoderRegistry?) {
        self.source = source
        self.decode = decode
        self.processors = processors
        self.coders = coders
        var hasher = Hasher()
        hasher.combine(source)
        hasher.combine(decode)
        for processor in processors { hasher.combine(processor) }
        hash = hasher.finalize()
    }

    init(_ request: ImageRequest) {
        self.init(
            source: request.source.key, decode: request.decode, processors: request.processors,
            coders: request.coders)
    }

    static func == (left: ImageKey, right: ImageKey) -> Bool {
        guard left.hash == right.hash, left.coders === right.coders, left.source == right.source,
            left.decode == right.decode,
            left.processors.count == right.processors.count
        else { return false }
        return zip(left.processors, right.processors).allSatisfy { $0.isEqual(to: $1) }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// The step before: the same image without its last processor.
    var withoutLastProcessor: ImageKey {
        ImageKey(source: source, decode: decode, processors: Array(processors.dropLast()), coders: coders)
    }

    /// Names the source's bytes on disk.
    var originalDiskKey: DiskKey {
        Self.diskKey(of: source)
    }

    static func diskKey(of source: String) -> DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.original", version: 1)
        encoder.encode(source)
        return DiskKey(encoder.bytes)
    }

    /// Names the finished image on disk.
    var processedDiskKey: DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.processed", version: 1)
        encoder.encode(source)
        decode.encode(into: &encoder)
        encoder.encode(processors.count)
        // Each behind its length, so that one with a list cannot be read as one without and the next.
        for processor in processors { encoder.encode(nested: { processor.encode(into: &$0) }) }
        return DiskKey(encoder.bytes)
    }
}
