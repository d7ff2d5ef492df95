import Foundation
import HalcyonImage
import HalcyonSystem

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
