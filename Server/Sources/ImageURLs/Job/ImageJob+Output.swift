extension ImageJob {
    /// A format that a URL can name. Whether the server writes it is another question.
    public enum Format: String, Sendable, Hashable, CaseIterable, Comparable {
        case avif, bmp, gif, heic, ico, jpeg, jxl, png, svg, tiff, webp

        /// By its name or the usual extension, in small letters. `nil` otherwise.
        init?(name: some StringProtocol) {
            switch name {
            case "jpg": self = .jpeg
            case "heif": self = .heic
            case "tif": self = .tiff
            default: self.init(rawValue: String(name))
            }
        }

        public static func < (first: Format, second: Format) -> Bool {
            first.rawValue < second.rawValue
        }
    }

    /// The format and quality of a result.
    public struct Output: Sendable, Hashable {
        /// `nil`, by the client's `Accept` and the source, by default.
        public var format: Format?
        /// Whether the result is the smallest of the files in the formats that the client takes. `false` by default; a
        /// `format` counts more.
        public var isSmallest = false
        /// 1...100. `nil`, that of `formatQuality` or of the server (80), by default.
        public var quality: Int?
        /// Quality of each format, in place of the server's. None by default.
        public var formatQuality: [Format: Int] = [:]
        /// The score by which the quality is found, in place of `quality` and `formatQuality`. `nil` by default.
        public var target: QualityTarget?
        /// Bytes that the result has at most: the quality is reduced until it does. `nil` by default.
        public var maxBytes: Int?
        /// Whether opaque PNGs become JPEG. `nil`, as the server is configured, by default.
        public var opaqueAsJPEG: Bool?

        public init() {}

        /// The quality for a result in this format, if the URL states any.
        public func quality(of format: Format) -> Int? {
            quality ?? formatQuality[format]
        }
    }

    /// A score that the result is to have, compared with what it is an encoding of.
    public struct QualityTarget: Sendable, Hashable {
        /// 0...100, where 80 is a good copy.
        public var score: Double
        /// The least quality, 0...100. 0 by default.
        public var minQuality = 0
        /// The best quality, `minQuality`...100. 100 by default.
        public var maxQuality = 100
        /// The difference to the score that is near enough, 0...100. 1 by default.
        public var allowedError = 1.0

        public init(score: Double) {
            self.score = score
        }
    }

    /// Metadata that is left out of a result.
    public struct Metadata: Sendable, Hashable {
        /// Exif, IPTC, XMP. `true` by default.
        public var strip = true
        /// Whether artist and copyright remain when it is stripped. `true` by default.
        public var keepCopyright = true
        /// Whether colours are converted to sRGB and the profile is left out. `true` by default.
        public var stripProfile = true

        public init() {}
    }

    /// Limits in place of those that the server is configured with.
    public struct SourceLimits: Sendable, Hashable {
        /// Pixels of the source.
        public var maxPixels: Int?
        /// Bytes of the source's file.
        public var maxBytes: Int?
        /// Frames of an animation that are used.
        public var maxFrames: Int?
        /// Pixels of one frame of an animation.
        public var maxFramePixels: Int?
        /// Pixels of the result's longer side.
        public var maxResultSide: Int?

        public init() {}
    }
}
