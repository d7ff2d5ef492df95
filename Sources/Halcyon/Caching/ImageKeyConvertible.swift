import Foundation
import HalcyonNetwork
import HalcyonSystem

/// What an `ImageCache` finds images by: a URL, a text, a request with its processors, or an `ImageKey`.
public protocol ImageKeyConvertible {
    /// The key, the source's URL given to the filter where the key comes of one.
    func imageKey(filter: CacheKeyFilter?) -> ImageKey

    /// Which levels are read; a request says, for others it is `.default`.
    var cachePolicy: CachePolicy { get }

    /// Where the image comes from, for a serializer; nil by default.
    var cachedURL: URL? { get }
}

extension ImageKeyConvertible {
    public var cachePolicy: CachePolicy { .default }
    public var cachedURL: URL? { nil }
}

extension ImageKey: ImageKeyConvertible {
    /// Itself.
    public func imageKey(filter: CacheKeyFilter?) -> ImageKey { self }
}

extension URL: ImageKeyConvertible {
    /// The key of a request for the URL that says nothing else.
    public func imageKey(filter: CacheKeyFilter?) -> ImageKey {
        ImageRequest(self).imageKey(filter: filter)
    }

    public var cachedURL: URL? { self }
}

extension String: ImageKeyConvertible {
    /// The text as it is, but for a URL's user. The text of a URL (without a fragment) is the key of that URL.
    public func imageKey(filter: CacheKeyFilter?) -> ImageKey { ImageKey(source: self) }
}

extension ImageRequest: ImageKeyConvertible {
    /// The request's source, or its `cacheKey`, with what decodes and processes it, for whom the request's own credential
    /// and header fields say. What a pipeline's downloader adds to them, `ImagePipeline.key(for:)` knows.
    public func imageKey(filter: CacheKeyFilter?) -> ImageKey {
        var request = self
        request.takeCredentialOfURL()
        return request.key(filter: filter, user: request.ownUser)
    }

    /// The same with the user that the credential stands for. The URL has none in it any more.
    func key(filter: CacheKeyFilter?, user: KeyedHash?) -> ImageKey {
        // A name of the program's own may be a URL as well.
        let (source, named) = SourceText.withoutUser(cacheKey ?? source.key(filter: filter))
        return ImageKey(source: source, decode: decode, processors: processors, coders: coders, user: user ?? named)
    }

    private var ownUser: KeyedHash? {
        guard case .remote = source else { return nil }
        if network.credential == nil, network.user == nil, network.headers.isEmpty { return nil }
        return KeyedHash(
            user: network.user, credential: network.credential, headers: network.headers.showing(network.credential),
            fields: .standard)
    }

    /// Makes what its URL says of a user its credential: there it is never written, told or logged. Nothing is copied where
    /// there is none.
    mutating func takeCredentialOfURL() {
        guard case .remote(let url) = source, url.hasUser else { return }
        if network.credential == nil, !network.headers.contains("Authorization") {
            network.credential = url.credential
        }
        source = .remote(url.withoutUser)
    }

    public var cachePolicy: CachePolicy { cache }
    public var cachedURL: URL? { source.url.map { $0.hasUser ? $0.withoutUser : $0 } }
}
