import Foundation

extension ImageSource {
    /// Whether both name the same. Providers are the same when their keys and URLs are.
    public static func == (left: ImageSource, right: ImageSource) -> Bool {
        switch (left, right) {
        case (.remote(let left), .remote(let right)), (.file(let left), .file(let right)): left == right
        case (.dataURL(let left), .dataURL(let right)): left == right
        case (.data(let left, let leftKey), .data(let right, let rightKey)): leftKey == rightKey && left == right
        case (.provider(let left), .provider(let right)):
            ExactText(left.cacheKey) == ExactText(right.cacheKey) && left.contentURL == right.contentURL
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
        case .provider(let provider): ExactText(provider.cacheKey).hash(into: &hasher)
        case .malformed(let text, _): hasher.combine(text)
        }
    }

    /// An image as base64 text; a `data:` URL is what `init(string:)` reads.
    ///
    /// - Parameter key: what the caches call it; nil, the default, is made of the text.
    public static func base64(_ text: String, key: String? = nil) -> ImageSource {
        .provider(Base64ImageDataProvider(text, cacheKey: key))
    }
}
