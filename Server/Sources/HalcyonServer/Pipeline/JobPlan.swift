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
    var format: ImageFormat
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
        (decode, encoding, format, size) = (
            Self.decodeOptions(job, configuration.source), .original, info.format, info.size
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
        addGeometry(geometry, of: job, from: upright, undoing: turns)
        var steps = JobSteps(job: job, geometry: geometry, watermarks: watermarks)
        try steps.addAll()
        processors += steps.processors
        size = steps.size
        try Self.check(size, configuration.answer)
        let choice = FormatChoice(configuration: configuration.answer, accept: accept, coders: coders)
        format = try choice.format(of: job, for: info, pixels: size.area ?? .max)
        decode.firstFrameOnly =
            job.limits.maxFrames == 1 || !coders.capabilities(of: format).encodesAnimations
        if !decode.firstFrameOnly {
            try Self.check(facts.info, job.limits)
            for part in [geometry.scaled, size] {
                try Self.check(part, frames: facts.info.frameCount, configuration.answer)
            }
        }
        encoding = ImageEncoding(format, options: Self.encodeOptions(job, format, configuration.answer))
        cost = cost(facts, scaled: geometry.scaled, steps: steps.cost)
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
        _ geometry: JobGeometry, of job: ImageJob, from source: PixelSize, undoing turns: [any ImageProcessor]
    ) {
        let used = geometry.chosen ?? geometry.part?.size ?? source
        if turns.isEmpty, geometry.chosen == nil {
            // Part of the decode, which reads a JPEG at about the size that is needed.
            decode.region = geometry.part
            if geometry.scaled != used {
                decode.target = TargetSize(geometry.scaled, mode: .stretch, upscale: true)
            }
        } else {
            processors = turns
            if let part = geometry.part { processors.append(.crop(part)) }
            if let chosen = geometry.chosen { processors.append(.smartCrop(to: chosen)) }
            if geometry.scaled != used {
                processors.append(.resize(to: geometry.scaled, mode: .stretch, upscale: true))
            }
        }
        if job.quarterTurns != 0 { processors.append(.rotate(degrees: Double(job.quarterTurns * 90))) }
        if job.flip.horizontal { processors.append(.flip(.horizontal)) }
        if job.flip.vertical { processors.append(.flip(.vertical)) }
        if let cut = geometry.cut {
            processors.append(job.gravity == .smart ? .smartCrop(to: cut.size) : .crop(cut))
        }
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

    private static func encodeOptions(
        _ job: ImageJob, _ format: ImageFormat, _ configuration: ServerConfiguration.Answer
    ) -> EncodeOptions {
        let asked = ImageJob.Format(format).flatMap { job.output.quality(of: $0) }
        let quality = asked ?? usualQuality(format, configuration)
        var options = EncodeOptions(quality: Double(quality) / 100, maximumBytes: job.output.maxBytes)
        options.keepsColorProfile = !job.metadata.stripProfile
        options.keepsGainMap = false
        // Holds also for a source that has more frames than its header told.
        options.maximumTotalPixels = totalPixels(configuration)
        if let color = job.background {
            options.background = .init(red: color.red, green: color.green, blue: color.blue)
        }
        return options
    }

    private func cost(_ facts: SourceFacts, scaled: PixelSize, steps: Int) -> Int {
        let factor =
            switch format {
            case .avif: 12
            case .jpegXL: 6
            case .webp, .png: 3
            default: 1
            }
        let frames = decode.firstFrameOnly ? 1 : max(1, facts.info.frameCount)
        // The sizes are within the limits of answers, and so are their sums.
        let area = size.area ?? .max / 64
        let frame = max(scaled.area ?? .max / 64, area) + area * factor
        let (made, overflows) = frame.addingReportingOverflow(steps)
        let (all, more) = made.multipliedReportingOverflow(by: frames)
        let (sum, most) = facts.pixels(firstFrameOnly: decode.firstFrameOnly).addingReportingOverflow(all)
        return overflows || more || most ? .max : sum
    }
}
