import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// The decoding of an arriving body, which lasts until a decode waits for the memory that it holds: a server that sends
/// the rest slowly, or never, must not hold up other loads.
private final class LentDecoding: Sendable {
    private let decoding = Lock<(any ProgressiveDecoding)?>(nil)

    init(_ coders: CoderRegistry, beginning: Data, options: DecodeOptions, showsThumbnail: Bool) {
        let budget = coders.budget.lent { [weak self] in self?.end() }
        let made = coders.makeProgressive(
            for: beginning, options: options, budget: budget, showsThumbnail: showsThumbnail)
        decoding.withLock { $0 = made }
    }

    /// The decoding; nil if the format has no previews, and once its memory has been released.
    var current: (any ProgressiveDecoding)? { decoding.withLock { $0 } }

    private func end() {
        // Freed outside the lock.
        let ended = decoding.withLock { decoding in
            defer { decoding = nil }
            return decoding
        }
        withExtendedLifetime(ended) {}
    }
}

/// The previews of an arriving body, made by one decoding that the body's chunks are appended to.
///
/// A preview is made each time that the number of bytes has doubled, or an interval after the last one, as long as
/// the allowance lasts, and only one at a time. While one is decoded the body goes on growing; the next preview is made
/// from the newest state, and the states between are never shown.
@JobActor
final class Previewer {
    /// The input of the next preview.
    struct Step: Sendable {
        let decoding: any ProgressiveDecoding
        let chunks: ArraySlice<Data>
        let processors: [any ImageProcessor]
        let previews: PreviewOptions

        /// Whether a preview is made; otherwise the chunks are only read.
        let shows: Bool

        /// The preview, and the processor time that the step took.
        struct Result: Sendable {
            /// The preview; nil if it would show nothing new.
            let image: ImagePreview?
            let reading: Duration
            let preview: Duration
        }

        /// Reads the chunks and makes the preview. Runs on a processor thread.
        func make(_ context: WorkContext) throws -> Result {
            let (started, elsewhere) = (ProcessorTime.ofThread, decoding.workerTime)
            for chunk in chunks { try decoding.append(chunk, context: context) }
            let read = ProcessorTime.ofThread
            guard shows, var image = try decoding.preview(context: context) else {
                let reading = decoding.workerTime.reading - elsewhere.reading
                return Result(image: nil, reading: read - started + reading, preview: .zero)
            }
            if let radius = previews.blurRadius(scans: decoding.shownScans) {
                image = try BlurProcessor(radius: radius).process(image, context: context)
            }
            let processed = try processors.process(image, context: context)
            let (reading, drawing) = decoding.workerTime
            return Result(
                image: ImagePreview(processed), reading: read - started + reading - elsewhere.reading,
                preview: ProcessorTime.ofThread - read + drawing - elsewhere.drawing)
        }
    }

    /// The number of bytes below which a preview is not worth a decode.
    private static let minimumBytes = 1 << 10

    private let coders: CoderRegistry
    private let options: DecodeOptions
    private let processors: [any ImageProcessor]
    private let previews: PreviewOptions
    /// The interval between previews, in seconds, if the number of bytes has not doubled.
    private let interval: Double
    /// Whether there is a preview of every part that arrives, whatever the cost.
    private let showsAll: Bool
    private let clock: TimeSource
    private(set) var body: ReceivedBody?
    private var decoding: LentDecoding?
    private var chunksTaken = 0
    private var bytesTaken = 0
    private var isOver = false
    private var lastStep = Date.distantPast
    private var allowance = PreviewAllowance()
    /// The length of the whole body in bytes, if the server declared it.
    var expectedBytes: Int?
    /// The preview that is being made.
    var work: Task<Void, Never>?

    init(
        coders: CoderRegistry, options: DecodeOptions, processors: [any ImageProcessor],
        previews: PreviewOptions, showsAll: Bool, clock: TimeSource
    ) {
        self.previews = previews
        interval = previews.interval / .seconds(1)
        self.showsAll = showsAll
        self.clock = clock
        self.coders = coders
        self.options = options
        self.processors = processors
    }

    /// Returns the next step; nil while a preview is being made, if too few bytes are new, or if the format has no
    /// previews.
    func nextStep() -> Step? {
        guard !isOver, work == nil, let body else { return nil }
        let chunks = body.chunks(from: chunksTaken)
        let bytes = bytesTaken + chunks.reduce(0) { $0 + $1.count }
        guard showsAll ? bytes > bytesTaken : isDue(bytes) else { return nil }
        if decoding == nil {
            // The first chunk alone may be shorter than a signature.
            let beginning = chunks.reduce(into: Data()) { if $0.count < 64 { $0.append($1.prefix(64)) } }
            decoding = LentDecoding(
                coders, beginning: beginning, options: options, showsThumbnail: previews.showsEmbeddedThumbnail)
        }
        guard let decoding = decoding?.current else {
            isOver = true
            return nil
        }
        chunksTaken += chunks.count
        bytesTaken = bytes
        lastStep = clock.now
        let shows = showsAll || allowance.allowsPreview(received: bytes, expected: expectedBytes)
        return Step(decoding: decoding, chunks: chunks, processors: processors, previews: previews, shows: shows)
    }

    /// Whether the number of bytes has doubled, or the interval has passed.
    private func isDue(_ bytes: Int) -> Bool {
        guard bytes >= Self.minimumBytes else { return false }
        if bytes >= bytesTaken * 2 { return true }
        return bytes > bytesTaken && clock.now.timeIntervalSince(lastStep) >= interval
    }

    func add(_ result: Step.Result) {
        allowance.add(reading: result.reading, preview: result.preview)
    }

    /// Ends the previews once all bytes have arrived, and releases the memory of their decoding, which the decode of
    /// the whole body waits for.
    func end() {
        (decoding, isOver) = (nil, true)
        work?.cancel()
    }

    /// Takes more of a body, or a new one: after a failed attempt the decoding of its body is of no use.
    func take(_ body: ReceivedBody) {
        guard self.body != body else { return }
        self.body = body
        (decoding, chunksTaken, bytesTaken, isOver) = (nil, 0, 0, false)
        allowance = PreviewAllowance()
    }

    /// Ends the previews of a body after an error. The load itself reports what is wrong with the body.
    func fail(_ failed: ReceivedBody?) {
        if failed == body { isOver = true }
    }
}
