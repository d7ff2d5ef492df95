import Halcyon
import ImageURLs

/// The choice of the format of an answer: the URL's, else the best that the client takes, else one that all take.
struct FormatChoice {
    let configuration: ServerConfiguration.Answer
    let accept: AcceptField
    let coders: CoderRegistry

    /// Whether the choice depends on the client's `Accept`, so that the answer says `Vary`.
    static func depends(on job: ImageJob) -> Bool {
        job.output.format == nil && !job.raw
    }

    /// All that the choice reads of a client's `Accept`: fields that are written in many ways have few of these.
    static func readings(of accept: AcceptField, _ configuration: ServerConfiguration.Answer) -> [Bool] {
        configuration.formats.map { accept.names($0.format.mimeType) } + [
            accept.quality(of: ImageFormat.webp.mimeType) > 0
        ]
    }

    /// Returns the format.
    ///
    /// - Parameter pixels: the pixels of the answer, in all of its frames.
    /// - Throws: `ImageURLError.unsupported` if the URL's format is not written.
    func format(of job: ImageJob, for info: ImageInfo, pixels: Int) throws -> ImageFormat {
        if let asked = job.output.format {
            let format = asked.imageFormat
            guard coders.canEncode(format) else { throw ImageURLError.unsupported("format:\(asked.rawValue)") }
            return format
        }
        return automatic(info, pixels: pixels).first ?? fallback(job, info)
    }

    /// Returns the formats that an answer may have: one, or those of which the smallest file is sent.
    ///
    /// - Throws: `ImageURLError.unsupported` if the URL's format is not written.
    func formats(of job: ImageJob, for info: ImageInfo, pixels: Int) throws -> [ImageFormat] {
        guard job.output.format == nil, job.output.isSmallest else {
            return [try format(of: job, for: info, pixels: pixels)]
        }
        var formats = automatic(info, pixels: pixels)
        let last = fallback(job, info)
        if !formats.contains(last) { formats.append(last) }
        // Photographs are often stored as PNG.
        if last == .png, !info.hasAlpha, !info.isAnimated, !info.isVector { formats.append(.jpeg) }
        return formats
    }

    /// The configured formats that the client takes and that can hold the picture, the best first.
    private func automatic(_ info: ImageInfo, pixels: Int) -> [ImageFormat] {
        configuration.formats.filter { automatic in
            let format = automatic.format
            // `image/*` is what browsers say that know neither.
            guard accept.names(format.mimeType), coders.canEncode(format) else { return false }
            if automatic == .avif, pixels > configuration.maximumAVIFPixels { return false }
            // An animation stays one.
            return !info.isAnimated || coders.capabilities(of: format).encodesAnimations
        }.map(\.format)
    }

    private func fallback(_ job: ImageJob, _ info: ImageInfo) -> ImageFormat {
        switch info.format {
        case .jpeg: .jpeg
        case .png: job.output.opaqueAsJPEG == true && !info.hasAlpha && !info.isAnimated ? .jpeg : .png
        case .gif where coders.canEncode(.gif): .gif
        case .webp where accept.quality(of: ImageFormat.webp.mimeType) > 0: .webp
        default: info.hasAlpha || info.isAnimated || info.isVector ? .png : .jpeg
        }
    }
}

extension ImageJob.Format {
    /// The library's format.
    var imageFormat: ImageFormat {
        switch self {
        case .avif: .avif
        case .bmp: .bmp
        case .gif: .gif
        case .heic: .heic
        case .ico: .ico
        case .jpeg: .jpeg
        case .jxl: .jpegXL
        case .png: .png
        case .svg: .svg
        case .tiff: .tiff
        case .webp: .webp
        }
    }

    /// The format that a URL would name.
    init?(_ format: ImageFormat) {
        guard let found = Self.allCases.first(where: { $0.imageFormat == format }) else { return nil }
        self = found
    }
}
