import Foundation
import HalcyonImage
import HalcyonSystem

/// The decode of a plan by a worker.
struct IsolatedDecode: Sendable {
    let file: IsolatedFile
    let options: DecodeOptions
    let budget: DecodeBudget
    /// The number of the request for the plan; 0 for none.
    var number = 0
    /// Whether the file is only a part of one that arrives.
    var isArriving = false

    /// Returns the image.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func image(by plan: DecodePlan, context: WorkContext) throws -> Image {
        var question = WorkerQuestion(.decode, file, options)
        (question.bytes, question.plan) = (plan.workingBytes, number)
        question.gainMapBytes = plan.gainMap?.size.bitmapBytes ?? 0
        var beside: (facts: ImageFacts, extras: Data)?
        let (bitmap, deep) = try Self.bitmaps(by: plan) { pixels, deep in
            let made = try file.workers.ask(question, context: context, pixels: pixels, deep: deep) { answer, result in
                guard case .image(let facts) = answer else { throw WireError.invalid("no image") }
                return (facts, try result.finish(pixels, deep: deep, extraBytes: try check(facts, plan)))
            }
            beside = made
            return made.0
        }
        guard let (facts, extras) = beside else { return Image(bitmap: bitmap, info: plan.info) }
        let image = try image(bitmap, deep, facts, extras, plan)
        // The plan has reserved the memory for all frames.
        guard plan.frames == .all, let animation = image.animation else { return image }
        return image.replacing(
            animation: try animation.makeReader().preloaded(maximumBytes: .max, context: context))
    }

    /// Makes the bitmaps of a plan, whose memory `fill` writes: that of the pixels, and of the deep ones if there are some.
    private static func bitmaps(
        by plan: DecodePlan,
        fill: (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer?) throws -> ImageFacts
    ) throws -> (Bitmap, DeepBitmap?) {
        var made: DeepBitmap?
        let bitmap = try Bitmap(size: plan.finalSize) { pixels in
            guard let format = plan.depth else { return try fill(pixels, nil).isOpaque }
            var isOpaque = false
            made = try DeepBitmap(size: plan.finalSize, format: format) { words in
                let facts = try fill(pixels, words)
                isOpaque = facts.isOpaque
                return facts.isDeepOpaque ?? false
            }
            return isOpaque
        }
        return (bitmap, made)
    }

    /// Returns the image that came with its plan.
    func image(_ facts: ImageFacts, by plan: DecodePlan, _ result: inout WorkerResult) throws -> Image {
        let extraBytes = try check(facts, plan)
        var extras = Data()
        let (bitmap, deep) = try Self.bitmaps(by: plan) { pixels, deep in
            extras = try result.finish(pixels, deep: deep, extraBytes: extraBytes)
            return facts
        }
        return try image(bitmap, deep, facts, extras, plan)
    }

    /// Checks the facts against the plan, and returns the number of bytes that follow the pixels.
    private func check(_ facts: ImageFacts, _ plan: DecodePlan) throws -> Int {
        var info = facts.info
        info.isPreview = false
        guard info == plan.info, facts.size == plan.finalSize, (facts.isDeepOpaque == nil) == (plan.depth == nil),
            plan.allowsIncomplete || !facts.info.isPreview
        else {
            throw WireError.invalid("another image than the one that was planned")
        }
        return try facts.extraBytes(by: plan, within: options.limits)
    }

    /// Returns the image of pixels, and of the durations, the profile and the gain map behind them.
    func image(
        _ bitmap: Bitmap, _ deep: DeepBitmap?, _ facts: ImageFacts, _ extras: Data, _ plan: DecodePlan
    ) throws -> Image {
        var image = Image(bitmap: bitmap, info: facts.info, animation: try animation(facts, extras, plan))
        image.deepBitmap = deep
        var rest = extras.dropFirst(facts.frameCount * 8)
        func take(_ count: Int) -> Data {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        if let count = facts.profileBytes { image.colorProfile = Data(take(count)) }
        if let map = facts.gainMap {
            let values = try Bitmap(size: map.size, isOpaque: true, pixels: take(map.size.bitmapBytes))
            image.gainMap = GainMap(
                bitmap: values, isMonochrome: map.isMonochrome, metadata: map.metadata,
                colorProfile: map.profileBytes.map { Data(take($0)) })
        }
        return image
    }

    private func animation(_ facts: ImageFacts, _ extras: Data, _ plan: DecodePlan) throws -> AnimatedImage? {
        guard facts.frameCount > 0 else { return nil }
        let durations = extras.withUnsafeBytes { bytes in
            (0..<facts.frameCount).map { index in
                Duration.nanoseconds(max(0, bytes.loadUnaligned(fromByteOffset: index * 8, as: Int64.self)))
            }
        }
        return try AnimatedImage(
            source: IsolatedFrames(self, plan: plan, frameCount: facts.frameCount, isReserved: false),
            size: plan.finalSize, durations: durations, loopCount: facts.loopCount)
    }
}
