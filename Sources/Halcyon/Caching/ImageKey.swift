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
    private let hash: Int

    init(source: String, decode: DecodeOptions, processors: [any ImageProcessor]) {
        self.source = source
        self.decode = decode
        self.processors = processors
        var hasher = Hasher()
        hasher.combine(source)
        hasher.combine(decode)
        for processor in processors { hasher.combine(processor) }
        hash = hasher.finalize()
    }

    init(_ request: ImageRequest) {
        self.init(source: request.source.key, decode: request.decode, processors: request.processors)
    }

    static func == (left: ImageKey, right: ImageKey) -> Bool {
        guard left.hash == right.hash, left.source == right.source, left.decode == right.decode,
            left.processors.count == right.processors.count
        else { return false }
        return zip(left.processors, right.processors).allSatisfy { $0.isEqual(to: $1) }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// The step before: the same image without its last processor.
    var withoutLastProcessor: ImageKey {
        ImageKey(source: source, decode: decode, processors: Array(processors.dropLast()))
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
