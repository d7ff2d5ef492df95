import Foundation

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
        ImageKey(source: ImageSource(self).key(filter: filter))
    }

    public var cachedURL: URL? { self }
}

extension String: ImageKeyConvertible {
    /// The text as it is. The text of a URL (without a fragment) is the key of that URL.
    public func imageKey(filter: CacheKeyFilter?) -> ImageKey { ImageKey(source: self) }
}

extension ImageRequest: ImageKeyConvertible {
    /// The request's source, or its `cacheKey`, with what decodes and processes it.
    public func imageKey(filter: CacheKeyFilter?) -> ImageKey {
        ImageKey(
            source: cacheKey ?? source.key(filter: filter), decode: decode, processors: processors, coders: coders)
    }

    public var cachePolicy: CachePolicy { cache }
    public var cachedURL: URL? { source.url }
}
