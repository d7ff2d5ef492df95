import Foundation
import HalcyonImage
import HalcyonSystem

/// The decoding of an arriving file by a worker, which gets what is new of it for each preview.
///
/// The worker keeps its decoder. If it has ended, or is needed for other files, another one gets the file from its first byte on.
final class IsolatedPreviews: ProgressiveDecoding {
    private struct Started {
        let plan: DecodePlan
        let session: WorkerSession
        /// The reservation for what the worker keeps, for a preview, and for the bytes of the file here and there.
        let memory: DecodeBudget.Hold
        /// The part of the reservation that does not grow with the file.
        let fixedBytes: Int
    }

    /// The plan was made before all of the header had arrived.
    private struct StalePlan: Error {}

    private enum Place {
        /// Nobody has asked yet: to know, a worker may have to be started.
        case unknown
        case workers(DecodeWorkers)
        case process(any ProgressiveDecoding)
    }

    private struct State {
        var chunks: [Data] = []
        var byteCount = 0
        var place = Place.unknown
        var pacing = HeaderPacing()
        var started: Started?
        /// The number of bytes that the worker has.
        var sent = 0
        var scans: Int?
        /// The number of the file for all workers.
        var number: Int?
        /// The image is finished.
        var isOver = false
        var reading = Duration.zero
        var drawing = Duration.zero

        /// Ends what a worker keeps of the file.
        mutating func endSession() {
            if case .workers(let workers) = place, let session = started?.session { workers.end(session.number) }
            started = nil
        }

        /// Returns the bytes that are there, as one piece from now on.
        mutating func data() -> Data {
            if chunks.count > 1 { chunks = [chunks.reduce(into: Data(capacity: byteCount)) { $0.append($1) }] }
            return chunks.first ?? Data()
        }
    }

    private let coders: CoderRegistry
    private let format: ImageFormat
    private let options: DecodeOptions
    private let budget: DecodeBudget
    private let showsThumbnail: Bool
    private let findWorkers: @Sendable (WorkContext) throws -> DecodeWorkers?
    private let makeOwn: @Sendable () -> any ProgressiveDecoding
    /// Locked during a whole question, as the decodings of this process are.
    private let state = Lock(State())

    /// - Parameters:
    ///   - findWorkers: returns the workers; nil if this process decodes.
    ///   - makeOwn: creates the decoding of this process.
    init(
        _ coders: CoderRegistry, _ format: ImageFormat, options: DecodeOptions, budget: DecodeBudget,
        showsThumbnail: Bool, findWorkers: @escaping @Sendable (WorkContext) throws -> DecodeWorkers?,
        makeOwn: @escaping @Sendable () -> any ProgressiveDecoding
    ) {
        (self.coders, self.format, self.budget) = (coders, format, budget)
        (self.showsThumbnail, self.findWorkers, self.makeOwn) = (showsThumbnail, findWorkers, makeOwn)
        var options = options
        // The previews are of the picture.
        options.usesEmbeddedThumbnail = false
        self.options = options
    }

    deinit {
        state.withLock { $0.endSession() }
    }

    /// The processor time that workers took, by their own account.
    var takenTime: (reading: Duration, drawing: Duration) { state.withLock { ($0.reading, $0.drawing) } }

    /// Keeps the bytes, which a worker gets with the next preview; errors in them come then.
    func append(_ data: Data, context: WorkContext) throws {
        try context.checkCancellation()
        try state.withLock { state in
            if case .process(let decoding) = state.place { return try decoding.append(data, context: context) }
            guard !data.isEmpty else { return }
            state.chunks.append(data)
            state.byteCount += data.count
        }
    }

    func preview(context: WorkContext) throws -> Image? {
        try state.withLock { state in
            if case .unknown = state.place { try findPlace(&state, context) }
            if case .process(let decoding) = state.place { return try decoding.preview(context: context) }
            guard case .workers(let workers) = state.place, !state.isOver, state.byteCount > state.sent else {
                return nil
            }
            let file = IsolatedFile(state.data(), format, for: workers, number: state.number)
            state.number = file.number
            if state.started == nil { state.started = try start(file, &state, context) }
            guard let started = state.started else { return nil }
            started.memory.grow(to: started.fixedBytes.adding(2, times: file.data.count))
            let sent = state.sent
            // If this fails, the worker has nothing more of the file.
            state.sent = 0
            let step: (image: Image?, facts: PreviewFacts)
            do {
                step = try self.step(file, started, sent, context)
            } catch is StalePlan {
                state.endSession()
                return nil
            }
            state.sent = file.data.count
            state.reading += .nanoseconds(step.facts.reading)
            state.drawing += .nanoseconds(step.facts.drawing)
            state.scans = step.facts.scans
            return step.image
        }
    }

    private func findPlace(_ state: inout State, _ context: WorkContext) throws {
        if let workers = try findWorkers(context) {
            state.place = .workers(workers)
        } else {
            let decoding = makeOwn()
            state.place = .process(decoding)
            for chunk in state.chunks { try decoding.append(chunk, context: context) }
            state.chunks = []
        }
    }

    /// Plans the decode and reserves its memory; nil if the header has not arrived, or if there is no memory.
    private func start(_ file: IsolatedFile, _ state: inout State, _ context: WorkContext) throws -> Started? {
        guard state.pacing.isDue(file.data.count) else { return nil }
        let plan: DecodePlan
        do {
            plan = try file.plan(options, budget: budget, isArriving: true, context: context)
        } catch CodecError.damaged {
            // A header that never ends is refused by the limit on metadata.
            try options.limits.check(metadataBytes: file.data.count)
            return nil
        }
        // The decoder, and its pixels and those of a preview here and there.
        let fixed = plan.workingBytes.adding(2, times: plan.nativeSize.bitmapBytes)
            .adding(2, times: plan.finalSize.bitmapBytes)
        guard let memory = budget.hold(fixed.adding(2, times: file.data.count)) else { return nil }
        // Decoders may keep the metadata beside it; each question adds the bytes that have arrived.
        let cost = fixed.adding(1, times: options.limits.maximumMetadataBytes)
        return Started(
            plan: plan, session: WorkerSession(number: file.workers.nextNumber(), cost: cost), memory: memory,
            fixedBytes: fixed)
    }

    /// Has a worker read what is new and make a preview.
    private func step(
        _ file: IsolatedFile, _ started: Started, _ sent: Int, _ context: WorkContext
    ) throws -> (image: Image?, facts: PreviewFacts) {
        struct Nothing: Error {}
        let plan = started.plan
        var question = WorkerQuestion(.preview, file, options)
        (question.bytes, question.session) = (started.session.cost.adding(2, times: file.data.count), started.session)
        (question.arrived, question.showsThumbnail) = (sent, showsThumbnail)
        var beside = PreviewFacts()
        var preview: (facts: ImageFacts, extras: Data)?
        do {
            let bitmap = try Bitmap(size: plan.finalSize) { pixels in
                preview = try file.workers.ask(question, context: context, pixels: pixels) { answer, result in
                    guard case .preview(let facts, let others) = answer else { throw WireError.invalid("no preview") }
                    beside = others
                    return try facts.map { ($0, try result.finish(pixels, extraBytes: try check($0, plan))) }
                }
                guard let preview else { throw Nothing() }
                return preview.facts.isOpaque
            }
            guard let preview else { return (nil, beside) }
            return (try image(bitmap, preview.facts, preview.extras, plan, of: file), beside)
        } catch is Nothing {
            return (nil, beside)
        }
    }

    /// Checks the facts of a preview against the plan, and returns the number of bytes behind its pixels.
    private func check(_ facts: ImageFacts, _ plan: DecodePlan) throws -> Int {
        let (info, planned) = (facts.info, plan.info)
        guard info.format == planned.format, info.isPreview else {
            throw WireError.invalid("another preview than the one that was planned")
        }
        guard info.size == planned.size, info.orientation == planned.orientation, facts.size == plan.finalSize else {
            throw StalePlan()
        }
        try options.limits.check(info)
        return try facts.extraBytes(by: plan, within: options.limits)
    }

    /// Returns the image, whose frames are drawn from the part of the file that is there.
    private func image(
        _ bitmap: Bitmap, _ facts: ImageFacts, _ extras: Data, _ plan: DecodePlan, of file: IsolatedFile
    ) throws -> Image {
        var header = PlanFacts(plan)
        header.info = facts.info
        let decode = IsolatedDecode(file: file, options: options, budget: budget, isArriving: true)
        return try decode.image(bitmap, nil, facts, extras, try DecodePlan(header, options, by: decode))
    }

    var shownScans: Int? {
        state.withLock { state in
            guard case .process(let decoding) = state.place else { return state.scans }
            return decoding.shownScans
        }
    }

    func finish(context: WorkContext) throws -> Image {
        let (own, data) = try state.withLock { state -> ((any ProgressiveDecoding)?, Data) in
            if case .unknown = state.place { try findPlace(&state, context) }
            if case .process(let decoding) = state.place { return (decoding, Data()) }
            // The decode of the whole file may wait for this memory.
            state.endSession()
            state.isOver = true
            return (nil, state.data())
        }
        return try own?.finish(context: context) ?? coders.decode(data, options: options, context: context)
    }
}

extension ProgressiveDecoding {
    /// The processor time that workers have taken for it, which is not that of the calling threads.
    package var workerTime: (reading: Duration, drawing: Duration) {
        (self as? IsolatedPreviews)?.takenTime ?? (.zero, .zero)
    }
}
