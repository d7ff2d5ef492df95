import Foundation

/// imgproxy's URLs, with all options of its free edition.
///
///     /<signature>/<options>/plain/<source, percent-encoded>[@<extension>]
///     /<signature>/<options>/<URL-safe base64 of the source, may hold slashes>[.<extension>]
///
/// An option is `name:argument:argument...`. An argument that is empty leaves the default, and of options with the same
/// meaning the last one wins. A query is ignored. Stricter than imgproxy, as no option may be misunderstood: truth values
/// other than Go's, and numbers that are no plain decimals, are errors; options of the paid edition are refused by name.
///
/// The path is taken as it came, not decoded: the signature was made of it. Two changes that proxies make are undone, before
/// and after which the signature may be valid: `%3A` for `:` in options, and `https:/` for `https://` behind `plain`. A path
/// that was percent-encoded as a whole is refused. The plain source is percent-decoded once, options are not.
public struct ImgproxyURL: ImageURLGrammar {
    /// Settings of the grammar, each named as imgproxy's.
    public struct Configuration: Sendable {
        /// Named lists of options. None by default.
        public var presets = ImgproxyPresets()
        /// Whether URLs name presets instead of options (`ONLY_PRESETS`). `false` by default.
        public var onlyPresets = false
        /// The text between arguments (`ARGUMENTS_SEPARATOR`). `:` by default.
        public var separator: Character = ":"
        /// Options that URLs may have, by any of their names; presets may have all (`ALLOWED_PROCESSING_OPTIONS`). `nil`,
        /// all, by default.
        public var allowedOptions: Set<String>?
        /// Whether URLs may state limits of the source (`ALLOW_SECURITY_OPTIONS`). `false` by default.
        public var allowsLimits = false
        /// Whether the last part of an encoded source is a file name without a meaning (`BASE64_URL_INCLUDES_FILENAME`).
        /// `false` by default.
        public var sourceIncludesFilename = false
        /// The job that options change: the server's own defaults. Its source is replaced.
        public var defaults = ImageJob(source: "")

        public init() {}
    }

    public let keys: URLKeys
    private let configuration: Configuration

    public init(keys: URLKeys, configuration: Configuration = Configuration()) {
        (self.keys, self.configuration) = (keys, configuration)
    }

    public func job(at path: String) throws(ImageURLError) -> ImageJob {
        let signed = try SignedPath(RequestPath(path))
        let rest = try signed.verified(by: keys, name: String(signed.signature), repaired: repaired(signed.rest))
        let parts = rest.dropFirst().split(separator: "/", omittingEmptySubsequences: false)

        var builder = ImgproxyJob(configuration: configuration)
        if configuration.presets["default"] != nil { try builder.applyPreset("default") }
        let sourceParts = try configuration.onlyPresets ? presets(parts, to: &builder) : options(parts, to: &builder)
        let (source, format) = try self.source(sourceParts)
        if let format, !builder.job.raw { try builder.apply(Arguments("format", [format])) }
        builder.job.source = source
        guard !builder.job.exceedsBounds else {
            throw .invalid("resize", "", "the size with its factors is larger than \(ImageJob.Bounds.side)")
        }
        return builder.job
    }

    /// Applies the presets that the first part names. Returns the parts of the source.
    private func presets(_ parts: [Substring], to builder: inout ImgproxyJob) throws(ImageURLError) -> ArraySlice<
        Substring
    > {
        for name in parts[0].split(separator: configuration.separator, omittingEmptySubsequences: false)
        where !name.isEmpty {
            try builder.applyPreset(name)
        }
        return parts.dropFirst()
    }

    /// Applies the options. Returns the parts of the source, which begin with the first one that has no arguments.
    private func options(_ parts: [Substring], to builder: inout ImgproxyJob) throws(ImageURLError) -> ArraySlice<
        Substring
    > {
        let count = parts.firstIndex { !$0.contains(configuration.separator) } ?? parts.endIndex
        guard count <= ImageJob.Bounds.options else { throw .tooManyOptions }
        for part in parts[..<count] {
            let option = Arguments(option: part, separator: configuration.separator)
            try checkAllowed(option.option)
            try builder.apply(option)
        }
        return parts[count...]
    }

    private func checkAllowed(_ name: String) throws(ImageURLError) {
        guard let allowed = configuration.allowedOptions, let option = ImgproxyOption.named[name] else { return }
        guard allowed.contains(where: { ImgproxyOption.named[$0] == option }) else { throw .forbidden(name) }
    }

    private func source(_ parts: ArraySlice<Substring>) throws(ImageURLError) -> (String, Substring?) {
        guard let first = parts.first else { throw .path("the source is missing") }
        if first == "-" { throw .unsupported("-") }
        if first == "enc", parts.count > 1 { throw .unsupported("enc") }
        if first == "plain", parts.count > 1 { return try plainSource(parts.dropFirst().joined(separator: "/")) }
        if ImageJob.Resize.Mode(rawValue: String(first)) != nil, parts.count > 4 {
            throw .path("the format of URLs before imgproxy 2")
        }
        let isNamed = configuration.sourceIncludesFilename && parts.count > 1
        return try encodedSource((isNamed ? parts.dropLast() : parts).joined())
    }

    private func plainSource(_ text: String) throws(ImageURLError) -> (String, Substring?) {
        let halves = text.split(separator: "@", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { throw .path("the source has more than one @; write %40") }
        guard let decoded = AddressText.percentDecoded(halves[0]) else {
            throw .path("the percent-encoding of the source is not valid")
        }
        return (try Self.address(decoded), Self.format(in: halves))
    }

    private func encodedSource(_ text: String) throws(ImageURLError) -> (String, Substring?) {
        let halves = text.split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { throw .path("the source has more than one extension") }
        guard let decoded = AddressText.base64Decoded(halves[0]) else {
            throw .path("the source is not URL-safe base64")
        }
        return (try Self.address(decoded), Self.format(in: halves))
    }

    /// The address of a source. The key of an object in S3 is no part of a URL for imgproxy: `%` and `#` are characters as others.
    private static func address(_ text: String) throws(ImageURLError) -> String {
        guard text.prefix(5).lowercased() == "s3://" else { return try AddressText.encoded(text) }
        let encoded: [UnicodeScalar: String] = ["%": "%25", "#": "%23", "\\": "%5C"]
        return try AddressText.encoded(text.unicodeScalars.map { encoded[$0] ?? String($0) }.joined())
    }

    private static func format(in halves: [Substring]) -> Substring? {
        halves.count == 2 && !halves[1].isEmpty ? Substring(halves[1]) : nil
    }

    /// The path as it was before a proxy encoded colons in options and took a slash from the source.
    private func repaired(_ rest: Substring) -> Substring {
        let mark = rest.range(of: "/plain/")
        var options = String(rest[..<(mark?.lowerBound ?? rest.endIndex)])
        if configuration.separator == ":" {
            options = options.replacingOccurrences(of: "%3A", with: ":", options: .caseInsensitive)
        }
        guard let mark else { return Substring(options) }
        return Substring(options + "/plain/" + AddressText.withSlashes(rest[mark.upperBound...]))
    }
}

extension Arguments {
    /// An option as it stands in a path.
    init(option part: Substring, separator: Character) {
        let words = part.split(separator: separator, omittingEmptySubsequences: false)
        self.init(words.first ?? "", Array(words.dropFirst()))
    }
}
