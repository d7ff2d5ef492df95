import Foundation
import HalcyonImage
import HalcyonSystem

/// A file for the workers, from its plan on until its last frame.
final class IsolatedFile: Sendable {
    let format: ImageFormat
    let workers: DecodeWorkers
    let data: Data
    /// No other file of the workers has this number.
    let number: Int

    init(_ data: Data, _ format: ImageFormat, for workers: DecodeWorkers) {
        (self.data, self.format, self.workers) = (data, format, workers)
        number = workers.nextNumber()
    }

    /// The bytes of the copy that a worker gets of a large file, while it has it.
    var copiedBytes: Int { data.count > WorkerArena.fileBytes ? data.count : 0 }

    /// Returns the facts in the header, which a worker reads.
    ///
    /// - Throws: `CodecError`, `CancellationError`.
    func info() throws -> ImageInfo {
        try workers.ask(WorkerQuestion(.probe, self, DecodeOptions()), context: .uncancellable) { answer, _ in
            guard case .info(let info) = answer, info.format == format else { throw WireError.invalid("no header") }
            return info
        }
    }

    /// Returns the plan that a worker makes. All that a plan computes from the header, this process computes itself.
    ///
    /// - Parameter budget: the budget from which the frames of an animation reserve their memory.
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func plan(_ options: DecodeOptions, budget: DecodeBudget, context: WorkContext) throws -> DecodePlan {
        let question = WorkerQuestion(.plan, self, options)
        return try workers.ask(question, context: context) { answer, _ in
            guard case .plan(let facts) = answer else { throw WireError.invalid("no plan") }
            guard facts.info.format == format else { throw WireError.invalid("a plan for \(facts.info.format)") }
            let decode = IsolatedDecode(file: self, options: options, budget: budget, number: question.number)
            return try DecodePlan(facts, options, by: decode)
        }
    }
}

/// The decode of a plan by a worker.
struct IsolatedDecode: Sendable {
    let file: IsolatedFile
    let options: DecodeOptions
    let budget: DecodeBudget
    /// The number of the request for the plan.
    let number: Int

    /// The most bytes behind the pixels, whatever the limits are: durations and a profile.
    private static let mostExtraBytes = 64 << 20

    /// Returns the image.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func image(by plan: DecodePlan, context: WorkContext) throws -> Image {
        var question = WorkerQuestion(.decode, file, options)
        (question.bytes, question.plan) = (plan.workingBytes, number)
        var beside: (facts: ImageFacts, extras: Data)?
        let bitmap = try Bitmap(size: plan.finalSize) { pixels in
            let (facts, extras) = try file.workers.ask(
                question, context: context, prepare: { Self.populate(pixels) },
                { answer, worker in
                    guard case .image(let facts) = answer else { throw WireError.invalid("no image") }
                    let extraBytes = try check(facts, plan)
                    return (
                        facts,
                        try worker.receive(
                            pixels, extraBytes: extraBytes, within: file.workers.timeLimit, context: context)
                    )
                })
            beside = (facts, extras)
            return facts.isOpaque
        }
        guard let (facts, extras) = beside else { return Image(bitmap: bitmap, info: plan.info) }
        var image = Image(bitmap: bitmap, info: facts.info, animation: try animation(facts, extras, plan))
        if facts.profileBytes != nil { image.colorProfile = Data(extras.dropFirst(facts.frameCount * 8)) }
        // The plan has reserved the memory for all frames.
        if plan.frames == .all, let animation = image.animation {
            image = image.replacing(
                animation: try animation.makeReader().preloaded(maximumBytes: .max, context: context))
        }
        return image
    }

    /// Has the system map the pages of a large bitmap, while the worker decodes.
    static func populate(_ pixels: UnsafeMutableRawBufferPointer) {
        guard pixels.count >= WorkerArena.windowBytes else { return }
        // A kernel before 5.14 refuses, which does no harm.
        madvise(pixels.baseAddress, pixels.count, MADV_POPULATE_WRITE)
    }

    /// Checks the facts against the plan, and returns the number of bytes that follow the pixels.
    private func check(_ facts: ImageFacts, _ plan: DecodePlan) throws -> Int {
        var info = facts.info
        info.isPreview = false
        guard info == plan.info, facts.size == plan.finalSize, plan.allowsIncomplete || !facts.info.isPreview else {
            throw WireError.invalid("another image than the one that was planned")
        }
        if facts.frameCount > 0 {
            guard plan.info.isAnimated, plan.frames != .first, (2...plan.info.frameCount).contains(facts.frameCount)
            else { throw WireError.invalid("\(facts.frameCount) frames") }
        }
        let profile = facts.profileBytes ?? 0
        guard profile == 0 || (!plan.convertsColor && profile <= options.limits.maximumMetadataBytes) else {
            throw WireError.invalid("a profile of \(profile) bytes")
        }
        let bytes = profile.adding(8, times: facts.frameCount)
        guard bytes <= Self.mostExtraBytes else { throw WireError.invalid("\(bytes) bytes behind the pixels") }
        return bytes
    }

    private func animation(_ facts: ImageFacts, _ extras: Data, _ plan: DecodePlan) throws -> AnimatedImage? {
        guard facts.frameCount > 0 else { return nil }
        let durations = extras.withUnsafeBytes { bytes in
            (0..<facts.frameCount).map { index in
                Duration.nanoseconds(max(0, bytes.loadUnaligned(fromByteOffset: index * 8, as: Int64.self)))
            }
        }
        return try AnimatedImage(
            source: IsolatedFrames(self, plan: plan, isReserved: false), size: plan.finalSize, durations: durations,
            loopCount: facts.loopCount)
    }
}

/// The frames of an animation, each of which a worker draws. It keeps what it needs for the next one; another worker draws it again.
final class IsolatedFrames: AnimationFrameSource {
    private let decode: IsolatedDecode
    private let plan: DecodePlan
    private let session: WorkerSession
    /// Whether the owner of this reader has reserved the memory for all frames.
    private let isReserved: Bool

    init(_ decode: IsolatedDecode, plan: DecodePlan, isReserved: Bool) {
        (self.decode, self.plan, self.isReserved) = (decode, plan, isReserved)
        // The file, the last canvas, and the one under it.
        let cost = decode.file.data.count.adding(2, times: plan.storedSize.bitmapBytes)
        session = WorkerSession(number: decode.file.workers.nextNumber(), cost: cost)
    }

    deinit {
        decode.file.workers.end(session.number)
    }

    var cost: Int { session.cost }

    var workingBytes: Int { plan.workingBytes }

    func makeReader() -> any AnimationFrameSource { IsolatedFrames(decode, plan: plan, isReserved: true) }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        guard !isReserved else { return try made(at: index, context: context) }
        return try decode.budget.withReservation(of: workingBytes, context: context) {
            try made(at: index, context: context)
        }
    }

    private func made(at index: Int, context: WorkContext) throws -> Bitmap {
        var question = WorkerQuestion(.frame, decode.file, decode.options)
        (question.bytes, question.session, question.frame) = (workingBytes, session, index)
        return try Bitmap(size: plan.finalSize) { pixels in
            try decode.file.workers.ask(question, context: context) { answer, worker in
                guard case .frame(let isOpaque) = answer else { throw WireError.invalid("no frame") }
                _ = try worker.receive(
                    pixels, extraBytes: 0, within: decode.file.workers.timeLimit, context: context)
                return isOpaque
            }
        }
    }
}
