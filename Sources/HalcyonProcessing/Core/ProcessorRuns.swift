import HalcyonImage
import HalcyonSystem

extension [any ImageProcessor] {
    /// The image after all of these, the frames of its animation with it.
    package func process(_ image: Image, context: WorkContext) throws -> Image {
        try self[...].process(image, context: context)
    }
}

/// Runs: neighbours that only cut, turn and scale, once at most, are done in one go.
extension ArraySlice<any ImageProcessor> {
    /// The image after all of these.
    package func process(_ image: Image, context: WorkContext) throws -> Image {
        var (image, rest) = (image, self)
        while let first = rest.first {
            let run = rest.firstRun
            image =
                try run.count > 1
                ? GeometryRun(run).applied(to: image, context: context) : first.applied(to: image, context: context)
            rest = rest.dropFirst(run.count)
        }
        return image
    }

    /// The last of the runs that these are.
    package var lastRun: Self {
        var rest = self
        while rest.firstRun.count < rest.count { rest = rest.dropFirst(rest.firstRun.count) }
        return rest
    }

    private var firstRun: Self {
        var (count, scales) = (0, false)
        for processor in self {
            guard let step = (processor as? any GeometricProcessor)?.geometryStep, step == .exact || !scales else {
                break
            }
            if step == .scaling { scales = true }
            count += 1
        }
        return prefix(Swift.max(1, count))
    }
}

extension ImageProcessor {
    /// What it makes of an image and, where it applies to each, of its frames.
    func applied(to image: Image, context: WorkContext) throws -> Image {
        guard appliesPerFrame, let animation = image.animation else { return try process(image, context: context) }
        // The still image alone: one that is nothing to do for may come back with all that it has, and its frames with it.
        let result = try process(image.replacing(image.bitmap), context: context)
        // One that brings an animation of its own has dealt with the frames.
        if result.animation != nil { return result }
        let frames = ProcessedFrames(animation, of: image, by: self, first: result.bitmap)
        let processed = try AnimatedImage(
            source: frames, size: result.size, durations: animation.durations, loopCount: animation.loopCount)
        // All frames were wanted beforehand; but not more than may be made.
        let area = (result.size.area ?? .max).multipliedReportingOverflow(by: animation.frameCount)
        guard animation.isPreloaded, !area.overflow, area.partialValue <= ResultLimit.maximumPixels else {
            return result.replacing(animation: processed)
        }
        return result.replacing(animation: try processed.preloaded(maximumBytes: .max, context: context))
    }
}

extension Image {
    /// The image after processors, in order, and the frames of its animation with it, as they are asked for.
    ///
    /// - Throws: what a processor throws.
    public func processed(by processors: [any ImageProcessor]) throws -> Image {
        try processors.flattened.process(self, context: .uncancellable)
    }
}
