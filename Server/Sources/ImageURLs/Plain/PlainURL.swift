/// Halcyon's own URLs, which a person can read and write.
///
///     [/s-<signature>]/<word>[,<word>...]/<source>
///
///     /fit-320x240,webp,q80/https://example.org/a.jpg
///     /fill-400x400,top,avif/https%3A%2F%2Fexample.org%2Fa.jpg%3Fversion%3D2
///     /_/https://example.org/a.jpg?version=2
///
/// The words, in any order, each kind once:
///
/// - size: `fit-WxH` (within), `fill-WxH` (cut to), `fill-down-WxH`, `force-WxH` (stretched), `auto-WxH`, or `crop-WxH`, which
///   cuts without a resize. A side that is left out (`fit-320x`) follows. `enlarge` lets small pictures grow.
/// - the part that stays: `center`, `top`, `bottom`, `left`, `right`, `top-left`, `top-right`, `bottom-left`,
///   `bottom-right`, `smart`, or `focus-X-Y`, both 0...1.
/// - format: `jpeg`, `png`, `webp`, `avif`, `jxl`, `gif`, `heic`, `tiff`, `bmp`, `best` for the smallest; quality:
///   `q80`, or `ssim-85` for the one of that score; most bytes: `max-20000`.
/// - screens: `dpr2`, a factor of all lengths.
/// - work: `blur-S` and `sharpen-S` (sigma), `pixelate-N`, `rotate-A` (multiples of 90, clockwise), `mirror`, `flip` (upside
///   down), `trim` or `trim-N` (tolerance), `pad-N`, `extend`, `bg-RRGGBB`.
/// - the rest: `keep-metadata`, `original` (the bytes as they are), `download`, `expires-T` (Unix seconds), `v-TEXT` (letters
///   and digits that make the URL another one), and `_`, no word at all.
///
/// The source is an absolute URL as it is, with its query, or percent-encoded as a whole. `https:/` is read as `https://`,
/// which some proxies make of it. The signature is imgproxy's code over everything behind it, query included.
public struct PlainURL: ImageURLGrammar {
    public let keys: URLKeys
    private let defaults: ImageJob

    /// - Parameters:
    ///   - keys: from ``URLKeys/imgproxy(_:size:trusted:policy:)``.
    ///   - defaults: the job that words change. Its source is replaced.
    public init(keys: URLKeys, defaults: ImageJob = ImageJob(source: "")) {
        (self.keys, self.defaults) = (keys, defaults)
    }

    public func job(at path: String) throws(ImageURLError) -> ImageJob {
        let parts = try verified(RequestPath(path, hasQuery: true))
        var options = PlainWords(job: defaults)
        let words = parts.words.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count <= ImageJob.Bounds.options else { throw .tooManyOptions }
        for word in words { try options.apply(word) }
        var job = options.job
        job.source = try source(parts.source)
        guard !job.exceedsBounds else {
            throw .invalid("dpr", "", "the size with its factor is larger than \(ImageJob.Bounds.side)")
        }
        return job
    }

    /// The path with its signature in front, or as it is if there is no key.
    public func signed(_ path: String) -> String {
        let slashed = path.hasPrefix("/") ? path : "/" + path
        return keys.signature(of: slashed).map { "/s-\($0)\(slashed)" } ?? slashed
    }

    private func verified(_ path: RequestPath) throws(ImageURLError) -> (words: Substring, source: Substring) {
        guard path.text.hasPrefix("/s-") else {
            guard keys.admitsUnsigned("unsafe") else { throw .signature }
            return try parts(path.text)
        }
        let signed = try SignedPath(path)
        let written = try parts(signed.rest)
        let repaired = "/" + written.words + "/" + AddressText.withSlashes(written.source)
        let name = String(signed.signature.dropFirst(2))
        do { return try parts(signed.verified(by: keys, name: name, repaired: Substring(repaired))) } catch {
            guard error == .signature, keys.admitsUnsigned("unsafe") else { throw error }
            return written
        }
    }

    private func parts(_ text: Substring) throws(ImageURLError) -> (words: Substring, source: Substring) {
        let parts = text.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { throw .path("the source is missing") }
        return (parts[0], parts[1])
    }

    private func source(_ text: Substring) throws(ImageURLError) -> String {
        let address = AddressText.withSlashes(text)
        if AddressText.isAbsolute(address.prefix { $0 != "?" }) { return try AddressText.encoded(String(address)) }
        guard let decoded = AddressText.percentDecoded(text.prefix { $0 != "?" }) else {
            throw .path("the percent-encoding of the source is not valid")
        }
        return try AddressText.encoded(decoded)
    }
}
