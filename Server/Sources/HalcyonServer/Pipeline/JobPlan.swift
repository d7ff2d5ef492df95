import Halcyon
import ImageURLs

/// The work for a job on a source with known facts: how it is decoded, processed and encoded.
///
/// Plans that are equal give equal bytes for equal sources.
struct JobPlan: Sendable {
    /// Whether the source's own bytes are the answer.
    var isOriginal = false
    var decode: DecodeOptions
    var processors: [any ImageProcessor] = []
    var encoding: ImageEncoding
    /// The formats that the answer may have: several, if the smallest of their files is sent.
    var formats: [ImageFormat]
    /// The size of the answer.
    var size: PixelSize
    /// The work in pixels: those that are decoded, those of the scaled picture and of the steps on it, and those that are encoded by
    /// what their format takes.
    var cost = 1

    /// - Throws: `ImageURLError` for options that are not supported, and sizes above the limits.
    ///
    /// - Parameters:
    ///   - trimmed: the part of the source without its border, for a job that removes it; nil is all of it. In the pixels of the
    ///     file where the job leaves its orientation alone, else in those of the upright source.
    ///   - watermarks: the pictures that the job lays on others.
    init(
        _ job: ImageJob, _ facts: SourceFacts, trimmed: PixelRect? = nil,
        watermarks: [ImageJob.Watermark.Picture: WatermarkPicture] = [:], accept: AcceptField, coders: CoderRegistry,
        configuration: ServerConfiguration
    ) throws {
        let info = facts.info
        (decode, encoding, formats, size) = (
            Self.decodeOptions(job, configuration.source), .original, [info.format], info.size
        )
        if job.raw || Self.passesOn(job, info) {
            isOriginal = true
            return
        }
        try Self.requireSupport(job)
        decode.usesEmbeddedThumbnail = job.enforceThumbnail
        decode.color = job.metadata.stripProfile ? .sRGB : .asStored
        let turns = job.autoRotate || info.orientation == .up ? [] : Self.undoing(info.orientation)
        let upright = turns.isEmpty ? info.size : info.storedSize
        let geometry = JobGeometry(
            job, source: upright, trimmed: trimmed, orientation: turns.isEmpty ? info.orientation : .up,
            isVector: info.isVector)
        try Self.check(geometry.scaled, configuration.answer)
        let sharpening = Self.sharpening(of: job, configuration.answer)
        addGeometry(geometry, of: job, from: upright, undoing: turns, sharpening: sharpening)
        var steps = JobSteps(job: job, geometry: geometry, watermarks: watermarks)
        try steps.addAll()
        processors += steps.processors
        size = steps.size
        // A filter may enlarge the picture, and the next one reduce it.
        for size in steps.sizes + [size] { try Self.check(size, configuration.answer) }
        let choice = FormatChoice(configuration: configuration.answer, accept: accept, coders: coders)
        let frames = job.limits.maxFrames == 1 ? 1 : max(1, info.frameCount)
        let (pixels, overflows) = (size.area ?? .max).multipliedReportingOverflow(by: frames)
        formats = try choice.formats(of: job, for: info, pixels: overflows ? .max : pixels)
        decode.firstFrameOnly =
            job.limits.maxFrames == 1 || !formats.contains { coders.capabilities(of: $0).encodesAnimations }
        if !decode.firstFrameOnly {
            try Self.check(facts.info, job.limits)
            for part in [geometry.scaled, size] {
                try Self.check(part, frames: facts.info.frameCount, configuration.answer)
            }
        }
        encoding = Self.encoding(job, formats, configuration.answer)
        let passes = sharpening > 0 ? JobSteps.blurPasses : 0
        cost = cost(
            facts, scaled: geometry.scaled, steps: steps.cost, passes: passes, finds: job.output.target != nil)
    }

    /// The format of the answer.
    func format(of answer: AnswerBytes) -> ImageFormat {
        formats.first { $0.mimeType == answer.mediaType } ?? formats.first ?? .bitmap
    }

    /// Whether the URL says that a source of this format is passed on.
    private static func passesOn(_ job: ImageJob, _ info: ImageInfo) -> Bool {
        // Vectors are drawn unless the URL asks for them, since they may hold scripts.
        if info.format == .svg { return job.output.format == .svg }
        guard let format = ImageJob.Format(info.format), job.skipProcessing.contains(format) else { return false }
        return job.output.format == nil || job.output.format == format
    }

    private static func requireSupport(_ job: ImageJob) throws {
        if !job.metadata.strip { throw ImageURLError.unsupported("strip_metadata:0") }
    }

    private static func check(_ size: PixelSize, _ limits: ServerConfiguration.Answer) throws {
        guard max(size.width, size.height) <= limits.maximumSide, (size.area ?? .max) <= limits.maximumPixels else {
            throw ImageURLError.unsupported("a result of \(size) pixels")
        }
    }

    /// Refuses an animation whose frames are too much together, each of which may be within the limits.
    private static func check(_ size: PixelSize, frames: Int, _ limits: ServerConfiguration.Answer) throws {
        let (pixels, overflows) = (size.area ?? .max).multipliedReportingOverflow(by: max(1, frames))
        guard !overflows, pixels <= totalPixels(limits) else {
            throw ImageURLError.unsupported("a result of \(frames) frames of \(size) pixels")
        }
    }

    /// Refuses an animation that is more than the URL allows. One that is cut after some frames would be another picture.
    private static func check(_ info: ImageInfo, _ limits: ImageJob.SourceLimits) throws {
        guard info.isAnimated else { return }
        if let limit = limits.maxFrames, info.frameCount > limit {
            throw ImageURLError.unsupported("max_animation_frames:\(limit) of \(info.frameCount) frames")
        }
        if let limit = limits.maxFramePixels, limit > 0, (info.size.area ?? .max) > limit {
            throw ImageURLError.unsupported("max_animation_frame_resolution of frames of \(info.size) pixels")
        }
    }

    private static func totalPixels(_ limits: ServerConfiguration.Answer) -> Int {
        max(limits.maximumAnimationPixels, limits.maximumPixels)
    }

    // MARK: - Decode

    /// Returns the options for any work on a source: its limits. What is found with them, such as a border, is the same for all jobs.
    static func decodeOptions(_ job: ImageJob, _ limits: ServerConfiguration.Source) -> DecodeOptions {
        var options = DecodeOptions()
        options.limits.maximumPixels = job.limits.maxPixels ?? limits.maximumPixels
        options.limits.maximumSourcePixels = options.limits.maximumPixels
        options.limits.maximumFrames = max(job.limits.maxFrames ?? 0, limits.maximumFrames)
        options.limits.maximumTotalPixels = max(limits.maximumAnimationPixels, options.limits.maximumPixels)
        return options
    }

    private mutating func addGeometry(
        _ geometry: JobGeometry, of job: ImageJob, from source: PixelSize, undoing turns: [any ImageProcessor],
        sharpening: Double
    ) {
        if turns.isEmpty, geometry.chosen == nil {
            // Part of the decode, as is a resize that comes first: it reads a JPEG at about the size that is needed.
            decode.region = geometry.part
        } else {
            processors = turns
            if let part = geometry.part { processors.append(.crop(part)) }
            if let chosen = geometry.chosen { processors.append(.smartCrop(to: chosen)) }
        }
        if geometry.scaled != geometry.chosen ?? geometry.part?.size ?? source {
            processors.append(
                .resize(to: geometry.scaled, mode: .stretch, upscale: true, sharpening: sharpening))
        }
        if job.quarterTurns != 0 { processors.append(.rotate(degrees: Double(job.quarterTurns * 90))) }
        if job.flip.horizontal { processors.append(.flip(.horizontal)) }
        if job.flip.vertical { processors.append(.flip(.vertical)) }
        if let cut = geometry.cut {
            processors.append(job.gravity == .smart ? .smartCrop(to: cut.size) : .crop(cut))
        }
    }

    /// Returns the amount by which a reduction is sharpened, unless the URL sharpens by itself.
    private static func sharpening(of job: ImageJob, _ configuration: ServerConfiguration.Answer) -> Double {
        let sharpensItself = job.effects.contains { effect in
            switch effect {
            case .sharpen, .wavelet: true
            default: false
            }
        }
        return sharpensItself ? 0 : Double(configuration.sharpening) / 100
    }

    /// Returns the turns that bring an upright picture back to the orientation that it is stored in.
    private static func undoing(_ orientation: Orientation) -> [any ImageProcessor] {
        switch orientation.inverse {
        case .up: []
        case .upMirrored: [.flip(.horizontal)]
        case .down: [.rotate(degrees: 180)]
        case .downMirrored: [.flip(.vertical)]
        case .leftMirrored: [.rotate(degrees: 90), .flip(.horizontal)]
        case .right: [.rotate(degrees: 90)]
        case .rightMirrored: [.rotate(degrees: 90), .flip(.vertical)]
        case .left: [.rotate(degrees: 270)]
        }
    }

    // MARK: - Encode

    /// The qualities of formats that look about alike, as imgproxy's defaults are.
    private static let usualQualities: [ImageFormat: Int] = [.webp: 79, .avif: 63, .jpegXL: 77]

    /// The quality of a format where a URL states none.
    static func usualQuality(_ format: ImageFormat, _ configuration: ServerConfiguration.Answer) -> Int {
        configuration.quality == 80 ? usualQualities[format] ?? 80 : configuration.quality
    }

    private static func encoding(
        _ job: ImageJob, _ formats: [ImageFormat], _ configuration: ServerConfiguration.Answer
    ) -> ImageEncoding {
        let encodings = formats.map { ImageEncoding($0, options: encodeOptions(job, $0, configuration)) }
        return encodings.dropFirst().reduce(encodings.first ?? .original) { $0.orSmaller($1) }
    }

    private static func encodeOptions(
        _ job: ImageJob, _ format: ImageFormat, _ configuration: ServerConfiguration.Answer
    ) -> EncodeOptions {
        let asked = ImageJob.Format(format).flatMap { job.output.quality(of: $0) }
        let quality = asked ?? usualQuality(format, configuration)
        var options = EncodeOptions(quality: Double(quality) / 100, maximumBytes: job.output.maxBytes)
        options.qualityTarget = job.output.target.map { target in
            QualityTarget(
                score: target.score,
                qualities: Double(target.minQuality) / 100...Double(target.maxQuality) / 100,
                tolerance: target.allowedError)
        }
        options.keepsColorProfile = !job.metadata.stripProfile
        options.keepsGainMap = false
        // Holds also for a source that has more frames than its header told.
        options.maximumTotalPixels = totalPixels(configuration)
        if let color = job.background {
            options.background = .init(red: color.red, green: color.green, blue: color.blue)
        }
        return options
    }

    /// - Parameter finds: whether the quality is found by a score, with four encodes at most.
    private func cost(_ facts: SourceFacts, scaled: PixelSize, steps: Int, passes: Int, finds: Bool) -> Int {
        let factor = formats.reduce(0) { $0 + Self.factor(of: $1, finds: finds) }
        let frames = decode.firstFrameOnly ? 1 : max(1, facts.info.frameCount)
        // The sizes are within the limits of answers, and so are their sums.
        let area = size.area ?? .max / 256
        let frame = max(scaled.area ?? .max / 256, area) * (1 + passes) + area * factor
        let (made, overflows) = frame.addingReportingOverflow(steps)
        let (all, more) = made.multipliedReportingOverflow(by: frames)
        let (sum, most) = facts.pixels(firstFrameOnly: decode.firstFrameOnly).addingReportingOverflow(all)
        return overflows || more || most ? .max : sum
    }

    private static func factor(of format: ImageFormat, finds: Bool) -> Int {
        let encodes = finds ? 4 : 1
        return switch format {
        case .avif: 12 * encodes
        case .jpegXL: 6 * encodes
        case .webp: 3 * encodes
        case .png: 3
        case .gif: 1
        default: encodes
        }
    }
}
