import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// The decoding of a body that is arriving, for as long as no decode waits for the memory that it holds: a server that sends
/// the rest slowly, or never, must not hold up others.
private final class LentDecoding: Sendable {
    private let decoding = Lock<(any ProgressiveDecoding)?>(nil)

    init(_ coders: CoderRegistry, beginning: Data, options: DecodeOptions) {
        let budget = coders.budget.lent { [weak self] in self?.end() }
        let made = coders.makeProgressive(for: beginning, options: options, budget: budget)
        decoding.withLock { $0 = made }
    }

    /// Nil where the format has no previews, and once the memory has been given back.
    var current: (any ProgressiveDecoding)? { decoding.withLock { $0 } }

    private func end() {
        // Freed outside of the lock.
        let ended = decoding.withLock { decoding in
            defer { decoding = nil }
            return decoding
        }
        withExtendedLifetime(ended) {}
    }
}

/// What previews are made of: a body that is arriving, and one decoding that is fed with it.
///
/// There is one preview each time that the bytes have doubled, or 150 ms after the last one, as long as the allowance
/// lasts; never two at once. While one is decoded the body goes on growing; the next is made of the newest state, and what
/// lay between is never shown.
@JobActor
final class Previewer {
    /// What the next preview takes in.
    struct Step: Sendable {
        let decoding: any ProgressiveDecoding
        let chunks: ArraySlice<Data>
        let processors: [any ImageProcessor]

        /// Whether there is to be a preview, or the chunks are only read.
        let shows: Bool

        /// What came of it, and the processor time that it took.
        struct Result: Sendable {
            /// Nil where it shows nothing new.
            let image: ImagePreview?
            let reading: Duration
            let preview: Duration
        }

        /// Runs on a processor thread.
        func make(_ context: WorkContext) throws -> Result {
            let started = ThreadTime.now
            for chunk in chunks { try decoding.append(chunk, context: context) }
            let read = ThreadTime.now
            guard shows, let image = try decoding.preview(context: context) else {
                return Result(image: nil, reading: read - started, preview: .zero)
            }
            let processed = try processors.process(image, context: context)
            return Result(image: ImagePreview(processed), reading: read - started, preview: ThreadTime.now - read)
        }
    }

    /// Fewer bytes show nothing worth a decode.
    private static let fewestBytes = 1 << 10
    /// In seconds.
    private static let interval = 0.15

    private let coders: CoderRegistry
    private let options: DecodeOptions
    private let processors: [any ImageProcessor]
    /// Whether every part that came is shown, whatever that costs.
    private let showsAll: Bool
    private let clock: TimeSource
    private(set) var body: ReceivedBody?
    private var decoding: LentDecoding?
    private var chunksTaken = 0
    private var bytesTaken = 0
    private var isOver = false
    private var lastStep = Date.distantPast
    private var allowance = PreviewAllowance()
    /// Of the whole body, where the server says.
    var expectedBytes: Int?
    /// The preview that is being made.
    var work: Task<Void, Never>?

    init(
        coders: CoderRegistry, options: DecodeOptions, processors: [any ImageProcessor], showsAll: Bool,
        clock: TimeSource
    ) {
        self.showsAll = showsAll
        self.clock = clock
        self.coders = coders
        self.options = options
        self.processors = processors
    }

    /// The next step; nil while a preview is being made, too little is new, or the format has no previews.
    func nextStep() -> Step? {
        guard !isOver, work == nil, let body else { return nil }
        let chunks = body.chunks(from: chunksTaken)
        let bytes = bytesTaken + chunks.reduce(0) { $0 + $1.count }
        guard showsAll ? bytes > bytesTaken : isDue(bytes) else { return nil }
        if decoding == nil {
            // The first chunk alone may be shorter than a signature.
            let beginning = chunks.reduce(into: Data()) { if $0.count < 64 { $0.append($1.prefix(64)) } }
            decoding = LentDecoding(coders, beginning: beginning, options: options)
        }
        guard let decoding = decoding?.current else {
            isOver = true
            return nil
        }
        chunksTaken += chunks.count
        bytesTaken = bytes
        lastStep = clock.now
        let shows = showsAll || allowance.allowsPreview(received: bytes, expected: expectedBytes)
        return Step(decoding: decoding, chunks: chunks, processors: processors, shows: shows)
    }

    /// The bytes have doubled, or some time has passed.
    private func isDue(_ bytes: Int) -> Bool {
        guard bytes >= Self.fewestBytes else { return false }
        if bytes >= bytesTaken * 2 { return true }
        return bytes > bytesTaken && clock.now.timeIntervalSince(lastStep) >= Self.interval
    }

    func add(_ result: Step.Result) {
        allowance.add(reading: result.reading, preview: result.preview)
    }

    /// Ends the previews once all bytes have arrived, and gives the memory of their decoding back, which the decode of the
    /// whole body waits for.
    func end() {
        (decoding, isOver) = (nil, true)
        work?.cancel()
    }

    /// More of a body is there, or a new one: after a failed attempt what was decoded of its body is of no use.
    func take(_ body: ReceivedBody) {
        guard self.body != body else { return }
        self.body = body
        (decoding, chunksTaken, bytesTaken, isOver) = (nil, 0, 0, false)
        allowance = PreviewAllowance()
    }

    /// After an error there are no more previews of this body; what is wrong with it, the load itself will say.
    func fail(_ failed: ReceivedBody?) {
        if failed == body { isOver = true }
    }
}
