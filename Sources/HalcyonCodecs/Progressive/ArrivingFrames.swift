import Foundation
import HalcyonImage
import HalcyonSystem

/// An animation whose data is still arriving: it shows the first frame once that is complete, then the frames behind
/// it, too.
final class ArrivingFrames<Decoder: AnimatedImageDecoder> {
    var data: Data
    private let decoder: Decoder
    private let options: DecodeOptions
    private let budget: DecodeBudget
    /// The first frame, decoded once for any number of previews.
    private var first: (bitmap: Bitmap, color: ColorTransform?)?

    init(_ decoder: Decoder, data: Data, options: DecodeOptions, budget: DecodeBudget) {
        self.decoder = decoder
        self.budget = budget
        self.data = data
        self.options = options
    }

    /// Returns the image with the complete frames, whose number is `info.frameCount`. Nil if no more than `shown`
    /// frames are complete, or if there is not enough memory for the first frame beside the decodes in progress.
    func image(moreThan shown: Int, context: WorkContext) throws -> Image? {
        // Before the data of the first frame has arrived, the header may not be readable.
        guard (try? decoder.probe(data)) != nil else { return nil }
        var info = try decoder.probe(data, within: options.limits, fileBytes: nil)
        guard let reader = try? decoder.frames(of: data, info: info), reader.frames.count > shown else { return nil }
        info.frameCount = reader.frames.count
        info.isPreview = true
        var plan = try DecodePlan(info: info, options: options, decoder: decoder)
        plan.measure(data, decoder: decoder)
        guard let (bitmap, color) = try first ?? firstFrame(reader, plan: plan, context: context) else { return nil }
        first = (bitmap, color)
        guard reader.frames.count > 1, !options.firstFrameOnly else { return Image(bitmap: bitmap, info: info) }
        let animation = try AnimatedImage(
            source: DecodedFrames(reader, plan: plan, color: color, dataCost: data.count, budget: budget),
            size: plan.finalSize, durations: reader.frames.map(\.duration), loopCount: info.loopCount ?? 1)
        return Image(bitmap: bitmap, info: info, animation: animation)
    }

    private func firstFrame(
        _ reader: any FrameReader, plan: DecodePlan, context: WorkContext
    ) throws -> (bitmap: Bitmap, color: ColorTransform?)? {
        guard let memory = budget.hold(plan.workingBytes) else { return nil }
        defer { withExtendedLifetime(memory) {} }
        let color = try ColorTransforms.shared.transform(for: plan, of: data, decoder)
        var compositor = FrameCompositor(reader, size: plan.storedSize)
        let canvas = try compositor.canvas(at: 0, context: context)
        return (try CoderRegistry.finish(canvas, plan: plan, color: color, context: context), color)
    }
}

/// A progressive decoding that shows an image frame by frame as it arrives, even if the image has a single frame.
final class ArrivingFile<Decoder: AnimatedImageDecoder>: ProgressiveDecoding {
    private struct State {
        let frames: ArrivingFrames<Decoder>
        var shown = 0
    }

    private let decoder: Decoder
    private let options: DecodeOptions
    private let budget: DecodeBudget
    private let state: Lock<State>

    init(_ decoder: Decoder, options: DecodeOptions, budget: DecodeBudget) {
        self.decoder = decoder
        self.options = options
        self.budget = budget
        state = Lock(State(frames: ArrivingFrames(decoder, data: Data(), options: options, budget: budget)))
    }

    func append(_ data: Data, context: WorkContext) throws {
        state.withLock { $0.frames.data.append(data) }
    }

    func preview(context: WorkContext) throws -> Image? {
        try state.withLock { state in
            guard let image = try state.frames.image(moreThan: state.shown, context: context) else { return nil }
            state.shown = image.info.frameCount
            return image
        }
    }

    func finish(context: WorkContext) throws -> Image {
        try state.withLock { state in
            try CoderRegistry([decoder], budget: budget).decode(state.frames.data, options: options, context: context)
        }
    }
}
