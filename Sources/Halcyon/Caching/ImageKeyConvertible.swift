import Foundation
import HalcyonNetwork
import HalcyonSystem

/// A type by which an `ImageCache` looks up images: a URL, a string, a request with its processors, or an `ImageKey`.
///
/// The requirements are static, so that URLs and strings get no members of the library's.
public protocol ImageKeyConvertible {
    /// Returns the key of an item; if it is derived from a URL, the filter is applied to that URL.
    static func imageKey(of item: Self, filter: CacheKeyFilter?) -> ImageKey

    /// Returns the policy of the look-up: a request's own; `.default` for other types.
    static func cachePolicy(of item: Self) -> CachePolicy

    /// Returns the URL of the image's source, for a serializer; nil by default.
    static func sourceURL(of item: Self) -> URL?
}

extension ImageKeyConvertible {
    public static func cachePolicy(of item: Self) -> CachePolicy { .default }
    public static func sourceURL(of item: Self) -> URL? { nil }
}

extension ImageKey: ImageKeyConvertible {
    /// Returns the key itself.
    public static func imageKey(of item: ImageKey, filter: CacheKeyFilter?) -> ImageKey { item }
}

extension URL: ImageKeyConvertible {
    /// Returns the key of a request for the URL with no other properties.
    public static func imageKey(of item: URL, filter: CacheKeyFilter?) -> ImageKey {
        let text = URLText(item)
        guard filter == nil, text.isPlainWeb else {
            return ImageRequest.imageKey(of: ImageRequest(item), filter: filter)
        }
        // The same key, without a request.
        return ImageKey(
            source: text.withoutFragment, decode: DecodeOptions(), processors: [], coders: nil, user: nil)
    }

    public static func sourceURL(of item: URL) -> URL? { item }
}

extension String: ImageKeyConvertible {
    /// Returns the key of the string, without the user if it is a URL. The text of a URL (without its fragment) has that URL's
    /// key.
    public static func imageKey(of item: String, filter: CacheKeyFilter?) -> ImageKey { ImageKey(source: item) }
}

extension ImageRequest: ImageKeyConvertible {
    /// Returns the key of the request's source, or of its `cacheKey`, with its decode options and processors, for the user that
    /// the request's own credential and header fields identify. `ImagePipeline.key(for:)` also covers those that a pipeline's
    /// downloader adds.
    public static func imageKey(of item: ImageRequest, filter: CacheKeyFilter?) -> ImageKey {
        if filter == nil, let key = item.identity?.key { return key }
        var request = item
        request.takeCredentialOfURL()
        return request.key(filter: filter, user: request.ownUser)
    }

    public static func cachePolicy(of item: ImageRequest) -> CachePolicy { item.cachePolicy }

    public static func sourceURL(of item: ImageRequest) -> URL? {
        item.source.url.map { $0.hasUser ? $0.withoutUser : $0 }
    }

    /// Returns the key for a user that stands for the credential. The URL must have no credential any more.
    func key(filter: CacheKeyFilter?, user: KeyedHash?) -> ImageKey {
        if user == nil, filter == nil, let key = identity?.key { return key }
        return newKey(filter: filter, user: user)
    }

    fileprivate func newKey(filter: CacheKeyFilter?, user: KeyedHash?) -> ImageKey {
        // A `cacheKey` of the program may be a URL as well.
        let (source, named) = SourceText.withoutUser(cacheKey ?? source.key(filter: filter))
        return ImageKey(source: source, decode: decode, processors: processors, coders: coders, user: user ?? named)
    }

    private var ownUser: KeyedHash? {
        guard case .remote = source, hasFields else { return nil }
        return KeyedHash(
            user: network.user, credential: network.credential, headers: network.headers.showing(network.credential),
            fields: .standard)
    }

    /// Moves the user and password of the URL to the request's credential, so that they are never stored, reported or logged.
    /// Copies nothing if the URL has none.
    mutating func takeCredentialOfURL() {
        guard identity?.key == nil, case .remote(let url) = source, url.hasUser else { return }
        if network.credential == nil, !network.headers.contains("Authorization") {
            network.credential = url.credential
        }
        source = .remote(url.withoutUser)
    }
}

/// The facts about a request that follow from its own options alone, for all its copies.
final class RequestIdentity: Sendable {
    /// The key of the image for a cache without a filter; nil for a request with a credential or header fields, which may
    /// identify a user.
    let key: ImageKey?
    /// The scale in the source's name.
    let namedScale: Double

    /// Returns nil if the facts may be others the next time, as the attributes of a file and the key of a provider.
    init?(_ request: ImageRequest) {
        guard case .remote(let url) = request.source else {
            let source = request.source
            guard source.isConstant(isNamed: request.cacheKey != nil) else { return nil }
            namedScale = source.namedScale
            key = request.newKey(filter: nil, user: nil)
            return
        }
        let text = URLText(url)
        namedScale = text.namedScale
        if request.hasFields || text.mayHaveUser && url.hasUser {
            key = nil
        } else if text.mayHaveUser || request.cacheKey != nil {
            key = request.newKey(filter: nil, user: nil)
        } else {
            // As above, with one search of the text less.
            key = ImageKey(
                source: text.withoutFragment, decode: request.decode, processors: request.processors,
                coders: request.coders, user: nil)
        }
    }
}
