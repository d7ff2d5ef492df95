import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// What a finished image is: its source, how it is decoded, what is made of it. The key in memory is the value itself,
/// its hash computed once; behind a reference, since caches copy their keys.
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
            self.decode = decode
            self.processors = processors
            self.coders = coders
            self.user = user
            var hasher = Hasher()
            // By bytes: texts that Swift takes for equal, as composed and decomposed letters, may be different sources.
            ExactText(source).hash(into: &hasher)
            // The few that differ in one program; `==` looks at all of them.
            hasher.combine(decode.target)
            hasher.combine(decode.region)
            for processor in processors { hasher.combine(processor) }
            if let user { hasher.combine(user) }
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
    /// For whom the image is: a hash of what identified the request. Nil for one that nothing identified; where its answer
    /// is for all (`HTTPCacheMetadata.isShared`), it is that of everybody.
    var user: KeyedHash? { parts.user }

    /// - Parameter source: a URL's user and password are taken out of it: it is the URL's source for that user.
    public init(source: String, decode: DecodeOptions = DecodeOptions(), processors: [any ImageProcessor] = []) {
        let (source, user) = SourceText.withoutUser(source)
        self.init(source: source, decode: decode, processors: processors, coders: nil, user: user)
    }

    init(
        source: String, decode: DecodeOptions, processors: [any ImageProcessor], coders: CoderRegistry?,
        user: KeyedHash?
    ) {
        parts = Parts(source: source, decode: decode, processors: processors.flattened, coders: coders, user: user)
    }

    /// The same image for another user, for everybody when it is nil.
    func of(_ user: KeyedHash?) -> ImageKey {
        guard user != self.user else { return self }
        return ImageKey(source: source, decode: decode, processors: processors, coders: coders, user: user)
    }

    /// Where an image is kept: in everybody's place where its answer is for all.
    func place(of http: HTTPCacheMetadata?) -> ImageKey {
        user != nil && http?.isShared == true ? of(nil) : self
    }

    /// Whether what is in everybody's place may answer for this key too: the answer is for all, or the program has put it
    /// there itself.
    static func isForAll(_ http: HTTPCacheMetadata?) -> Bool { http?.isShared ?? true }

    public static func == (left: ImageKey, right: ImageKey) -> Bool {
        let (left, right) = (left.parts, right.parts)
        if left === right { return true }
        guard left.hash == right.hash, left.coders === right.coders, left.user == right.user,
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
        return ImageKey(source: source, decode: decode, processors: [], coders: coders, user: user)
    }

    /// Names the source's bytes on disk. A cache whose files have readable names calls them by the source.
    public var originalDiskKey: DiskKey {
        var encoder = KeyEncoder()
        // The first version knew no users.
        encoder.encode(type: "halcyon.original", version: 2)
        encoder.encode(source)
        return DiskKey(encoder, name: source).of(user)
    }

    /// Names the finished image on disk.
    public var processedDiskKey: DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.processed", version: 2)
        encode(into: &encoder)
        // Not the source's name: that is taken.
        return DiskKey(encoder, name: "\(source)@\(DiskKey(encoder).fileName)").of(user)
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

/// The text of a source without what it says of a user, should it be a URL.
enum SourceText {
    static func withoutUser(_ text: String) -> (text: String, user: KeyedHash?) {
        // By bytes: names of files with an @2x in them are looked up as often as others.
        guard text.utf8.contains(UInt8(ascii: "@")), let start = authority(in: text.utf8) else { return (text, nil) }
        let authority = text.utf8[start...].prefix { !ends.contains($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return (text, nil) }
        var plain = text
        plain.removeSubrange(start...at)
        let parts = text[start..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let (user, password) = (Self.plain(parts.first), Self.plain(parts.dropFirst().first))
        return (plain, KeyedHash(.basic(user: user, password: password)))
    }

    /// The bytes that end the part of a URL in which a user may stand.
    private static let ends = Array("/?#\\".utf8)

    /// Where that part begins: behind the first `://`.
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
    /// Identifies a user by a credential alone.
    init?(_ credential: Credential) {
        self.init(
            user: nil, credential: credential, headers: HTTPHeaders().showing(credential), fields: .standard)
    }
}
