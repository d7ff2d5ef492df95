import HalcyonCodecs
import HalcyonProcessing
import HalcyonSystem

/// What the requests of a pipeline have where they do not say otherwise.
///
///     configuration.defaults.cache = .storeProcessed
///     configuration.defaults.processors = [.resize(to: PixelSize(320, 240), mode: .fill)]
///
/// The later wins: what `ImageRequest` has by itself, these, what the request was given, the pipeline's
/// `requestModifier`. An option counts as given once it was passed or assigned, whatever its value, and as a whole: a
/// request that sets `cache.waitsForStore` has taken nothing of the policy here. Everything is nil by default. What is nil
/// in a request by itself, such as its caches, coders, serializer, headers and retries, is said by the configuration of
/// the pipeline, of its cache and of its downloader.
public struct RequestDefaults: Sendable {
    public var processors: [any ImageProcessor]?
    public var decode: DecodeOptions?
    public var cache: CachePolicy?
    public var priority: RequestPriority?
    /// Sources that stand in for any that has no image, such as a picture that says so.
    public var alternatives: [ImageSource]?
    public var wantsPreviews: Bool?
    public var wantsEveryPreview: Bool?
    /// For requests whose `scale` is nil.
    public var scale: Double?
    /// For requests whose `modifier` is nil.
    public var modifier: ImageModifier?

    public init() {}

    /// The request as a pipeline with these loads it, before its `requestModifier`. Its key is that by which a cache
    /// finds the image. Doing it twice changes nothing.
    public func applied(to request: ImageRequest) -> ImageRequest {
        let given = request.given
        var request = request
        if let processors, !given.contains(.processors) { request.processors = processors }
        if let decode, !given.contains(.decode) { request.decode = decode }
        if let cache, !given.contains(.cache) { request.cache = cache }
        if let priority, !given.contains(.priority) { request.priority = priority }
        if let alternatives, !given.contains(.alternatives) { request.alternatives = alternatives }
        if let wantsPreviews, !given.contains(.wantsPreviews) { request.wantsPreviews = wantsPreviews }
        if let wantsEveryPreview, !given.contains(.wantsEveryPreview) { request.wantsEveryPreview = wantsEveryPreview }
        request.scale = request.scale ?? scale
        request.modifier = request.modifier ?? modifier
        return request
    }

    /// So that a memory hit need not look at each.
    var isEmpty: Bool {
        processors == nil && decode == nil && cache == nil && priority == nil && alternatives == nil
            && wantsPreviews == nil && wantsEveryPreview == nil && scale == nil && modifier == nil
    }
}

/// The options that a request was given, whatever their values: a pipeline's defaults leave them alone.
struct GivenOptions: OptionSet, Sendable {
    let rawValue: UInt8

    static let processors = GivenOptions(rawValue: 1)
    static let decode = GivenOptions(rawValue: 2)
    static let cache = GivenOptions(rawValue: 4)
    static let priority = GivenOptions(rawValue: 8)
    static let alternatives = GivenOptions(rawValue: 16)
    static let wantsPreviews = GivenOptions(rawValue: 32)
    static let wantsEveryPreview = GivenOptions(rawValue: 64)
}
