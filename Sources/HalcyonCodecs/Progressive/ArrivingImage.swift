import Foundation
import HalcyonImage
import HalcyonSystem

/// An image that is decoded while it arrives: a still one by its rows, an animation by its frames.
///
/// Memory: of a still image its pixels, twice during a preview, and its bytes where the end is decoded from them; of an
/// animation its bytes and the first frame.
final class ArrivingImage<Decoder: AnimatedImageDecoder>: ProgressiveDecoding {
    private enum Phase {
        case rows(Rows)
        case frames(ArrivingFrames<Decoder>)
        /// There can be no previews, or no more of them, or there is no memory for them beside the decodes under way:
        /// the file is decoded once it is whole.
        case waiting
    }

    /// A still image under way.
    private struct Rows {
        let plan: DecodePlan
        let stream: any RowStream
        let color: ColorTransform?
        /// Nil where the colours are converted.
        let profile: Data?
        /// The stream's pixels and those of a preview, and the bytes that the stream keeps.
        let memory: DecodeBudget.Hold
    }

    private struct State {
        /// What came before the header was whole; of a file that waits for its end all that came.
        var header = Data()
        var pacing = HeaderPacing()
        /// Nil until the header is whole.
        var phase: Phase?
        /// What the last preview showed: rows or frames.
        var shown = 0

        /// Goes on without the stream, where the end is a decode of the file: gives its pixels back, and keeps the bytes.
        mutating func leaveRows() {
            guard case .rows(let rows) = phase, case .file(let file) = rows.stream.ending else { return }
            header = file
            phase = .waiting
        }
    }

    private let decoder: Decoder
    private let options: DecodeOptions
    private let budget: DecodeBudget
    private let isHeaderWhole: @Sendable (Data) -> Bool
    private let isAnimation: @Sendable (Data, ImageInfo) -> Bool
    private let keptBytes: @Sendable (Data) -> Int
    private let makeRows: @Sendable (DecodePlan, Data) throws -> (any RowStream)?
    /// Held through a whole decode: two threads that decode the same image have to wait for each other anyway.
    private let state = Lock(State())

    /// - Parameters:
    ///   - isHeaderWhole: whether everything that stands before the pixels is there.
    ///   - isAnimation: whether frames follow, of which the header need not say how many.
    ///   - keptBytes: how many of the file's bytes the rows' stream will have kept at the end.
    ///   - makeRows: nil where the image can only be shown whole; else starts to decode a still image, given its plan and the data up to its pixels.
    init(
        _ decoder: Decoder, options: DecodeOptions, budget: DecodeBudget,
        isHeaderWhole: @escaping @Sendable (Data) -> Bool,
        isAnimation: @escaping @Sendable (Data, ImageInfo) -> Bool = { $1.isAnimated },
        keptBytes: @escaping @Sendable (Data) -> Int = { _ in 0 },
        makeRows: @escaping @Sendable (DecodePlan, Data) throws -> (any RowStream)?
    ) {
        self.decoder = decoder
        self.options = options
        self.budget = budget
        self.isHeaderWhole = isHeaderWhole
        self.isAnimation = isAnimation
        self.keptBytes = keptBytes
        self.makeRows = makeRows
    }

    func append(_ data: Data, context: WorkContext) throws {
        try state.withLock { state in
            switch state.phase {
            case nil:
                state.header.append(data)
                guard state.pacing.isDue(state.header.count) else { return }
                guard isHeaderWhole(state.header) else {
                    // A header without end never becomes an image.
                    return try options.limits.check(metadataBytes: state.header.count)
                }
                let phase = try begin(state.header, context: context)
                state.phase = phase
                if case .waiting = phase { return }
                state.header = Data()
            case .rows(let rows):
                do {
                    try rows.stream.append(data, context: context)
                } catch {
                    // A decode of the whole file says whether it is damaged.
                    guard case .file = rows.stream.ending else { throw error }
                    state.leaveRows()
                }
            case .frames(let frames):
                frames.data.append(data)
            case .waiting:
                state.header.append(data)
            }
        }
    }

    private func begin(_ data: Data, context: WorkContext) throws -> Phase {
        let info = try decoder.probe(data, within: options.limits, fileBytes: nil)
        guard !isAnimation(data, info) else {
            return .frames(ArrivingFrames(decoder, data: data, options: options, budget: budget))
        }
        // EXIF behind the pixels may turn the image, and so decides whether a region lies on it.
        guard let plan = try? DecodePlan(info: info, options: options, decoder: decoder) else { return .waiting }
        let bytes = decoder.arrivingBytes(of: data, plan: plan).adding(1, times: keptBytes(data))
        guard let memory = budget.hold(bytes), let stream = try makeRows(plan, data) else { return .waiting }
        do {
            try stream.append(data, context: context)
        } catch {
            guard case .file = stream.ending else { throw error }
            return .waiting
        }
        let color = try ColorTransforms.shared.transform(for: plan, of: data, decoder)
        let profile = plan.convertsColor ? nil : decoder.embeddedProfile(of: data)
        return .rows(Rows(plan: plan, stream: stream, color: color, profile: profile, memory: memory))
    }

    func preview(context: WorkContext) throws -> Image? {
        try state.withLock { state in
            switch state.phase {
            case nil, .waiting: return nil
            case .rows(let rows):
                guard rows.stream.rows > state.shown else { return nil }
                state.shown = rows.stream.rows
                return try Self.image(rows, isPreview: true, context: context)
            case .frames(let frames):
                guard let image = try frames.image(moreThan: state.shown, context: context) else { return nil }
                state.shown = image.info.frameCount
                return image
            }
        }
    }

    func finish(context: WorkContext) throws -> Image {
        try state.withLock { state in
            // Its memory has to be free before the decode reserves its own.
            state.leaveRows()
            switch state.phase {
            case nil, .waiting:
                // A header that is not whole gets its error here.
                return try CoderRegistry([decoder], budget: budget).decode(
                    state.header, options: options, context: context)
            case .rows(let rows):
                guard case .rows = rows.stream.ending else {
                    throw CodecError.damaged(rows.plan.info.format, reason: "the file was cut off")
                }
                return try Self.image(rows, isPreview: false, context: context)
            case .frames(let frames):
                return try CoderRegistry([decoder], budget: budget).decode(
                    frames.data, options: options, context: context)
            }
        }
    }

    private static func image(_ rows: Rows, isPreview: Bool, context: WorkContext) throws -> Image {
        try context.checkCancellation()
        let native = try rows.stream.bitmap(context: context)
        let bitmap = try CoderRegistry.finish(native, plan: rows.plan, color: rows.color, context: context)
        var info = rows.plan.info
        info.isPreview = isPreview
        var image = Image(bitmap: bitmap, info: info)
        image.colorProfile = rows.profile
        return image
    }
}
