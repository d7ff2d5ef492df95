import HalcyonImage
import HalcyonSystem

extension [any ImageProcessor] {
    /// Whether all processors do with a gain map as they do with its image. The others drop it.
    package var keepGainMap: Bool {
        flattened.allSatisfy {
            ($0 as? any GeometricProcessor)?.geometryStep != nil || ($0 as? ResizeProcessor)?.sharpening == 0
                || $0 is CropProcessor
        }
    }

    /// Applies all processors to an image and to the frames of its animation.
    package func process(_ image: Image, context: WorkContext) throws -> Image {
        try self[...].process(image, context: context)
    }
}

/// Splits a list into runs: consecutive processors that only cut, turn and scale, with at most one scaling, are done
/// in one pass.
extension ArraySlice<any ImageProcessor> {
    /// Applies all processors to an image.
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

    /// The last run of the list.
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
    /// Applies the processor to an image and, if it applies per frame, to the frames of its animation.
    func applied(to image: Image, context: WorkContext) throws -> Image {
        guard appliesPerFrame, let animation = image.animation else { return try process(image, context: context) }
        // Only the still image: a processor with nothing to do may return its argument unchanged, with its frames.
        let result = try process(image.replacing(image.bitmap), context: context)
        // A result with an animation of its own has already handled the frames.
        if result.animation != nil { return result }
        let frames = ProcessedFrames(animation, of: image, by: self, first: result.bitmap)
        let processed = try AnimatedImage(
            source: frames, size: result.size, durations: animation.durations, loopCount: animation.loopCount)
        // A preloaded animation stays preloaded, unless its frames exceed the pixel limit.
        let area = (result.size.area ?? .max).multipliedReportingOverflow(by: animation.frameCount)
        guard animation.isPreloaded, !area.overflow, area.partialValue <= ResultLimit.maximumPixels else {
            return result.replacing(animation: processed)
        }
        return result.replacing(animation: try processed.preloaded(maximumBytes: .max, context: context))
    }
}

extension Image {
    /// Applies processors in order, and to the frames of the animation as they are requested.
    ///
    /// - Throws: The error of the processor that failed.
    public func processed(by processors: [any ImageProcessor]) throws -> Image {
        try processors.flattened.process(self, context: .uncancellable)
    }
}

/// The processed frames of an animation, each made on demand.
final class ProcessedFrames: AnimationFrameSource {
    private let animation: AnimatedImage
    /// The image that the animation belongs to; each frame replaces its bitmap.
    private let image: Image
    private let processor: any ImageProcessor
    private let size: PixelSize

    /// - Parameter first: The first frame, processed; the others must have its size.
    convenience init(_ animation: AnimatedImage, of image: Image, by processor: any ImageProcessor, first: Bitmap) {
        self.init(animation, of: image, by: processor, size: first.size)
    }

    private init(_ animation: AnimatedImage, of image: Image, by processor: any ImageProcessor, size: PixelSize) {
        self.animation = animation
        self.image = image
        self.processor = processor
        self.size = size
    }

    var cost: Int { animation.cost }

    /// The decoder's working memory plus the result and one intermediate bitmap.
    var workingBytes: Int { animation.workingBytes.adding(2, times: size.bitmapBytes) }

    func makeReader() -> any AnimationFrameSource {
        ProcessedFrames(animation.makeReader(), of: image, by: processor, size: size)
    }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        let frame = try animation.frame(at: index, context: context)
        let bitmap = try processor.process(image.replacing(frame), context: context).bitmap
        guard bitmap.size == size else { throw AnimationError.differentSizes(size, bitmap.size) }
        return bitmap
    }
}
