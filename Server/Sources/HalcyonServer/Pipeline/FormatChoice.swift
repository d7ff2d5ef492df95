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
    /// - Parameter pixels: the pixels of the answer.
    /// - Throws: `ImageURLError.unsupported` if the URL's format is not written.
    func format(of job: ImageJob, for info: ImageInfo, pixels: Int) throws -> ImageFormat {
        if let asked = job.output.format {
            let format = asked.imageFormat
            guard coders.canEncode(format) else { throw ImageURLError.unsupported("format:\(asked.rawValue)") }
            return format
        }
        for automatic in configuration.formats {
            let format = automatic.format
            // `image/*` is what browsers say that know neither.
            guard accept.names(format.mimeType), coders.canEncode(format) else { continue }
            if automatic == .avif, pixels > configuration.maximumAVIFPixels { continue }
            // An animation stays one.
            if info.isAnimated, !coders.capabilities(of: format).encodesAnimations { continue }
            return format
        }
        return fallback(job, info)
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
