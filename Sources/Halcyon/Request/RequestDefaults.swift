import HalcyonCodecs
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// The default options of a pipeline's requests.
///
///     configuration.defaults.cachePolicy = .storeProcessed
///     configuration.defaults.processors = [.resize(to: PixelSize(320, 240), mode: .fill)]
///
/// Options are taken from these places, of which the later wins: the built-in defaults of `ImageRequest`, these
/// defaults, the options that the request was given, the pipeline's `requestModifier`. An option counts as given once
/// it was passed or assigned, whatever its value, and as a whole: a request that sets `cachePolicy.waitsForStore` takes
/// nothing from the policy here. The exception is `decode.limits`: each limit that a request leaves at its standard value is
/// the one of `decode` here, whatever else the request sets, so that a size does not lift a server's limits. Everything is
/// nil by default. Options that are nil in a request by default, such as its caches, coders, serializer, headers and
/// retries, come from the configuration of the pipeline, of its cache and of its downloader.
public struct RequestDefaults: Sendable {
    /// The processors of requests that do not set their own; nil sets none.
    public var processors: [any ImageProcessor]?
    /// The decode options of requests that do not set their own, and the limits that the others do not set; nil sets none.
    public var decode: DecodeOptions?
    /// The cache policy of requests that do not set their own; nil sets none.
    public var cachePolicy: CachePolicy?
    /// The priority of requests that do not set their own; nil sets none.
    public var priority: RequestPriority?
    /// The sources that stand in for any source that has no image, such as a picture that says so.
    public var alternatives: [ImageSource]?
    /// The value of `wantsPreviews` for requests that do not set their own; nil sets none.
    public var wantsPreviews: Bool?
    /// The value of `wantsEveryPreview` for requests that do not set their own; nil sets none.
    public var wantsEveryPreview: Bool?
    /// The scale for requests whose `scale` is nil.
    public var scale: Double?
    /// The steps of progress for requests whose `progressStep` is nil.
    public var progressStep: ProgressStep?
    /// The modifier for requests whose `modifier` is nil.
    public var modifier: ImageModifier?

    /// Creates defaults that are all nil.
    public init() {}

    /// Returns the request as a pipeline with these defaults loads it, before its `requestModifier`. Its key is the one
    /// by which a cache finds the image. Applying the defaults twice changes nothing.
    public func applied(to request: ImageRequest) -> ImageRequest {
        let given = request.given
        var request = request
        if let processors, !given.contains(.processors) { request.processors = processors }
        if let decode {
            if !given.contains(.decode) {
                request.decode = decode
            } else {
                request.decode.limits.fill(from: decode.limits)
            }
        }
        if let cachePolicy, !given.contains(.cachePolicy) { request.cachePolicy = cachePolicy }
        if let priority, !given.contains(.priority) { request.priority = priority }
        if let alternatives, !given.contains(.alternatives) { request.alternatives = alternatives }
        if let wantsPreviews, !given.contains(.wantsPreviews) { request.wantsPreviews = wantsPreviews }
        if let wantsEveryPreview, !given.contains(.wantsEveryPreview) { request.wantsEveryPreview = wantsEveryPreview }
        request.scale = request.scale ?? scale
        request.progressStep = request.progressStep ?? progressStep
        request.modifier = request.modifier ?? modifier
        return request
    }

    /// Whether all defaults are nil, so that a memory hit need not check each of them.
    var isEmpty: Bool {
        processors == nil && decode == nil && cachePolicy == nil && priority == nil && alternatives == nil
            && wantsPreviews == nil && wantsEveryPreview == nil && scale == nil && progressStep == nil
            && modifier == nil
    }
}

/// The options that a request was given, whatever their values. A pipeline's defaults do not change them.
struct GivenOptions: OptionSet, Sendable {
    let rawValue: UInt32

    static let processors = GivenOptions(rawValue: 1)
    static let decode = GivenOptions(rawValue: 2)
    static let cachePolicy = GivenOptions(rawValue: 4)
    static let priority = GivenOptions(rawValue: 8)
    static let alternatives = GivenOptions(rawValue: 16)
    static let wantsPreviews = GivenOptions(rawValue: 32)
    static let wantsEveryPreview = GivenOptions(rawValue: 64)
}

extension DecodeLimits {
    /// Takes the values of `other` for those that are the standard ones.
    fileprivate mutating func fill(from other: DecodeLimits) {
        let standard = DecodeLimits()
        for limit in Self.all where self[keyPath: limit] == standard[keyPath: limit] {
            self[keyPath: limit] = other[keyPath: limit]
        }
    }
}
