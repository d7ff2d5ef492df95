import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// The source of an image: a URL, a file, data, or a provider.
public enum ImageSource: Hashable, Sendable, CustomStringConvertible {
    /// An http or https URL.
    case remote(URL)
    /// A file. It is read each time that its image is in no cache, and never copied into the disk cache, which keeps finished
    /// images of it under a key with the file's attributes, for a policy that stores them.
    case file(URL)
    /// The whole text of a `data:` URL.
    case dataURL(String)
    /// Bytes that the program already has. The key tells them from others; equal keys must mean equal bytes, also in the next
    /// run of the program if the policy stores finished images on disk.
    case data(Data, key: String)
    /// Bytes, or an image, that the program's own code provides when they are needed.
    case provider(any ImageDataProvider)
    /// A source that does not name an image; its load fails with `ImagePipelineError.invalidRequest`. A URL of an
    /// unsupported scheme is one, unless the pipeline has a provider for it among its `providers`.
    case malformed(String, reason: String)

    /// Creates a source from a URL, according to its scheme.
    public init(_ url: URL?) {
        guard let url else {
            self = .malformed("", reason: "there is no URL")
            return
        }
        if URLText(url).isPlainWeb {
            self = .remote(url)
            return
        }
        switch url.scheme?.lowercased() {
        case "http", "https":
            guard let host = url.host(), !host.isEmpty else {
                self = .malformed(url.absoluteString, reason: "the URL has no host")
                return
            }
            self = .remote(url)
        case "file": self = .file(url)
        case "data": self = .dataURL(url.absoluteString)
        case let scheme?: self = .malformed(url.absoluteString, reason: "the scheme \(scheme) is not supported")
        case nil: self = .malformed(url.absoluteString, reason: "the URL has no scheme")
        }
    }

    /// Creates a source from the text of a URL; spaces and other characters that a URL may not contain are
    /// percent-encoded.
    public init(string: String) {
        let text = string.trimmingCharacters(in: .whitespacesAndNewlines)
        if text.lowercased().hasPrefix("data:") {
            self = .dataURL(text)
        } else if text.isEmpty {
            self = .malformed(text, reason: "the URL is empty")
        } else if let url = URL(string: text, encodingInvalidCharacters: true) {
            self.init(url)
        } else {
            self = .malformed(text, reason: "it is not a URL")
        }
    }

    /// The source's text for errors and logs: a URL without user, query and fragment, which may hold secrets.
    public var description: String {
        switch self {
        case .remote(let url): Self.redacted(url.absoluteString)
        case .file(let url): url.path(percentEncoded: false)
        case .dataURL(let text): "\(text.prefix { $0 != "," }.prefix(40)),... (\(text.utf8.count) characters)"
        case .data(let data, let key): "\(key) (\(data.count) bytes)"
        case .provider(let provider):
            Self.redacted(String((provider.contentURL?.absoluteString ?? provider.cacheKey).prefix(200)))
        // The end of the user part is unknown in a malformed URL, so only the text after the last @ is used.
        case .malformed(let text, _): Self.redacted(String(text.split(separator: "@").last?.prefix(200) ?? ""))
        }
    }

    /// The URL of a remote source or a file, or the one that a provider declares.
    var url: URL? {
        switch self {
        case .remote(let url), .file(let url): url
        case .provider(let provider): provider.contentURL
        case .dataURL, .data, .malformed: nil
        }
    }

    /// The levels of the disk cache that are worth using for the source: those of bytes that are at hand are the finished images
    /// alone.
    var diskLevels: CacheLevels {
        switch self {
        case .remote: .disk
        case .file, .dataURL, .data: .diskProcessed
        case .provider(let provider): provider.diskLevels
        case .malformed: []
        }
    }

    /// Returns the source that the last of a pipeline's `providers` that handles the URL provides; this one if none
    /// does.
    func provided(by providers: [@Sendable (URL) -> (any ImageDataProvider)?]) -> ImageSource {
        let url: URL?
        switch self {
        case .remote(let remote), .file(let remote): url = remote
        case .malformed(let text, _): url = URL(string: text)
        case .dataURL, .data, .provider: url = nil
        }
        guard let url, url.scheme != nil else { return self }
        for provider in providers.reversed() {
            if let found = provider(url) { return .provider(found) }
        }
        return self
    }

    /// Whether the source's key and scale are always the same. Those of a file depend on its attributes, those of a provider on
    /// the provider.
    ///
    /// - Parameter isNamed: whether the request has a key of its own.
    func isConstant(isNamed: Bool) -> Bool {
        switch self {
        case .remote, .dataURL, .data, .malformed: true
        case .file: isNamed
        case .provider: false
        }
    }

    /// The scale in the source's name, for an `Image.scale` that the request does not set.
    var namedScale: Double {
        switch self {
        case .remote(let url): ImageScale.named(in: url.absoluteString)
        case .file(let url): ImageScale.named(in: url.path(percentEncoded: false))
        case .data(_, let key): ImageScale.named(in: key)
        case .provider(let provider):
            ImageScale.named(in: provider.contentURL?.absoluteString ?? provider.cacheKey)
        case .dataURL, .malformed: 1
        }
    }

    private static func redacted(_ text: String) -> String {
        var text = String(text.prefix { $0 != "?" && $0 != "#" })
        if let scheme = text.range(of: "://") {
            let authorityEnd = text[scheme.upperBound...].firstIndex(of: "/") ?? text.endIndex
            if let at = text[scheme.upperBound..<authorityEnd].lastIndex(of: "@") {
                text.removeSubrange(scheme.upperBound...at)
            }
        }
        return text
    }

    /// Returns the key that tells this source's bytes from others in the caches. A fragment is never sent to a server,
    /// so it is not part of the key.
    func key(filter: CacheKeyFilter?) -> String {
        switch self {
        case .remote(let url):
            if url.hasUser {
                ImageSource.remote(url.withoutUser).key(filter: filter)
            } else {
                filter?.key(for: url) ?? url.withoutFragment
            }
        case .file(let url): FileSource.key(url.path(percentEncoded: false))
        // A hash, since long texts must not be compared and kept whole.
        case .dataURL(let text): "data:\(text.utf8.count):" + CacheKey(text.utf8).fileName
        case .data(_, let key): "data-key:" + key
        case .provider(let provider): "provider:" + provider.cacheKey
        // A hash, since the text may be a mistyped URL with a password in it.
        case .malformed(let text, _): "malformed:\(text.utf8.count):" + CacheKey(text.utf8).fileName
        }
    }
}

extension ImageSource {
    /// Returns whether both name the same source. Providers are the same if their keys and URLs are equal.
    public static func == (left: ImageSource, right: ImageSource) -> Bool {
        switch (left, right) {
        case (.remote(let left), .remote(let right)), (.file(let left), .file(let right)): left == right
        case (.dataURL(let left), .dataURL(let right)): left == right
        case (.data(let left, let leftKey), .data(let right, let rightKey)): leftKey == rightKey && left == right
        case (.provider(let left), .provider(let right)):
            ExactString(left.cacheKey) == ExactString(right.cacheKey) && left.contentURL == right.contentURL
        case (.malformed(let left, let leftReason), .malformed(let right, let rightReason)):
            left == right && leftReason == rightReason
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .remote(let url): hasher.combine(url)
        case .file(let url): hasher.combine(url)
        case .dataURL(let text): hasher.combine(text)
        case .data(_, let key): hasher.combine(key)
        case .provider(let provider): ExactString(provider.cacheKey).hash(into: &hasher)
        case .malformed(let text, _): hasher.combine(text)
        }
    }

    /// Returns a source for an image as base64 text. A `data:` URL is read by `init(string:)`.
    ///
    /// - Parameter key: the key in the caches; nil, the default, derives it from the text.
    public static func base64(_ text: String, key: String? = nil) -> ImageSource {
        .provider(Base64ImageDataProvider(text, cacheKey: key))
    }
}

extension ImageSource {
    /// Returns whether both are remote sources of the same origin, so that the credentials for one may be sent to the
    /// other.
    func isSameOrigin(as other: ImageSource) -> Bool {
        guard case .remote(let left) = self, case .remote(let right) = other else { return false }
        return left.webOrigin == right.webOrigin
    }
}
