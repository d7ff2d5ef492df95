/// thumbor's URLs.
///
///     /<signature, or "unsafe">/[trim[:top-left|:bottom-right][:<tolerance>]/][<A>x<B>:<C>x<D>/]
///         [[adaptive-][full-]fit-in/][[-]<W>x[-]<H>/][left|center|right/][top|middle|bottom/][smart/]
///         [filters:<name>(<arguments>):<name>(<arguments>)/]<source>
///
/// Each part is optional, and their order is fixed. A side is a number, `orig`, or 0 or nothing for one that follows; a
/// minus mirrors. A signature has 28 characters; without a key each of them is taken, and no other text. The source,
/// and the filters as a whole, are percent-decoded once; a source without a scheme gets the configured one. A query is
/// ignored. Stricter than thumbor, which leaves out what it does not understand: a filter that is unknown or has an
/// argument that is not valid is an error, and so are `debug` and `meta`.
public struct ThumborURL: ImageURLGrammar {
    public struct Configuration: Sendable {
        /// The scheme of sources that state none, as thumbor's loaders. `http` by default; `nil` leaves them as they are, for
        /// ``SourceRules`` with a base.
        public var defaultScheme: String? = "http"
        /// The job that the parts change. By default, metadata is stripped with the copyright and the colour profile stays,
        /// as in thumbor.
        public var defaults: ImageJob

        public init() {
            defaults = ImageJob(source: "")
            defaults.metadata.keepCopyright = false
            defaults.metadata.stripProfile = false
        }
    }

    public let keys: URLKeys
    private let configuration: Configuration

    public init(keys: URLKeys, configuration: Configuration = Configuration()) {
        (self.keys, self.configuration) = (keys, configuration)
    }

    public func job(at path: String) throws(ImageURLError) -> ImageJob {
        let signed = try SignedPath(RequestPath(path))
        let written = try ThumborPath(signed.rest)
        let repaired = Substring(written.options + AddressText.withSlashes(written.source))
        // Clients encode the padding of the signature.
        let name = AddressText.percentDecoded(signed.signature) ?? String(signed.signature)
        // Without a key every signature is taken, but the beginning of a URL in another language is none.
        guard !keys.admitsUnsigned(name) || ThumborPath.isSignature(name) else {
            throw .path("it begins with neither 'unsafe' nor a signature")
        }
        let parts = try ThumborPath(signed.verified(by: keys, name: name, repaired: repaired))
        for part in [ThumborPath.Part.debug, .meta] {
            if let name = parts.parts[part] { throw .unsupported(String(name)) }
        }

        guard let source = AddressText.percentDecoded(parts.source) else {
            throw .path("the percent-encoding of the source is not valid")
        }
        var job = configuration.defaults
        job.source = try address(source)
        try applyCut(parts, to: &job)
        try applySize(parts, to: &job)
        applyGravity(parts, to: &job)
        if let text = parts.parts[.filters] {
            var filters = ThumborFilters(job: job, address: address)
            try filters.apply(text.dropFirst("filters:".count))
            job = filters.job
        }
        job.resize.dpr = job.resize.dpr ?? 1
        return job
    }

    /// The address with the default scheme, if it has none.
    private func address(_ text: String) throws(ImageURLError) -> String {
        guard let scheme = configuration.defaultScheme, !AddressText.isAbsolute(text) else {
            return try AddressText.encoded(text)
        }
        return try AddressText.encoded("\(scheme)://\(text)")
    }

    private func applyCut(_ parts: ThumborPath, to job: inout ImageJob) throws(ImageURLError) {
        if let text = parts.parts[.trim] {
            var words = text.split(separator: ":", omittingEmptySubsequences: false).dropFirst()
            var border = ImageJob.Trim.Border.topLeft
            if let corner = words.first, corner == "top-left" || corner == "bottom-right" || corner.isEmpty {
                if corner == "bottom-right" { border = .bottomRight }
                words = words.dropFirst()
            }
            let arguments = Arguments("trim", Array(words))
            try arguments.limited(to: 1)
            let tolerance = try arguments.number(0, in: 0...442) ?? 0
            job.trim = ImageJob.Trim(tolerance: .distance(tolerance), border: border)
        }
        guard let text = parts.parts[.crop], let box = ThumborPath.box(text) else { return }
        let edges = [box.left, box.top, box.right, box.bottom]
        guard edges.allSatisfy({ $0 <= ImageJob.Bounds.side }) else {
            throw .invalid("crop", text, "numbers to \(ImageJob.Bounds.side) are expected")
        }
        if edges.contains(where: { $0 > 0 }) { job.crop = .box(box) }
    }

    private func applySize(_ parts: ThumborPath, to job: inout ImageJob) throws(ImageURLError) {
        let fit = parts.parts[.fit]
        let isFull = fit?.contains("full-") ?? false
        job.resize.rules = .thumbor
        job.resize.mode = fit == nil ? .fill : isFull ? .cover : .fit
        job.resize.enlarge = fit == nil || isFull
        job.resize.adaptive = fit?.hasPrefix("adaptive-") ?? false
        job.resize.width = .follows
        job.resize.height = .follows
        guard let text = parts.parts[.size], let (width, height) = ThumborPath.sides(text) else { return }
        job.resize.width = try side(width)
        job.resize.height = try side(height)
        let flip = ImageJob.Flip(horizontal: width.hasPrefix("-"), vertical: height.hasPrefix("-"))
        if flip != ImageJob.Flip() { job.effects.append(.flip(flip)) }
    }

    private func side(_ text: Substring) throws(ImageURLError) -> ImageJob.Resize.Side {
        let size = text.hasPrefix("-") ? text.dropFirst() : text
        if size == "orig" { return .original }
        if size.isEmpty { return .follows }
        guard let count = Int(size), count <= ImageJob.Bounds.side else {
            throw .invalid("size", size, "a number to \(ImageJob.Bounds.side) is expected")
        }
        return count == 0 ? .follows : .pixels(count)
    }

    private func applyGravity(_ parts: ThumborPath, to job: inout ImageJob) {
        let compass: ImageJob.Compass =
            switch (parts.parts[.horizontal], parts.parts[.vertical]) {
            case ("left", "top"): .topLeft
            case ("left", "bottom"): .bottomLeft
            case ("left", _): .left
            case ("right", "top"): .topRight
            case ("right", "bottom"): .bottomRight
            case ("right", _): .right
            case (_, "top"): .top
            case (_, "bottom"): .bottom
            default: .center
            }
        job.gravity = parts.parts[.smart] == nil ? .compass(compass) : .smart
    }
}
