import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// What previews are made of: a body that is arriving, and one decoding that is fed with it.
///
/// There is one preview each time that the bytes have doubled, never two at once. While one is decoded the body goes on
/// growing; the next is made of the newest state, and what lay between is never shown. Confined to the coordinator.
final class Previewer {
    /// What the next preview takes in.
    struct Step: Sendable {
        let decoding: any ProgressiveDecoding
        let chunks: ArraySlice<Data>
        let processors: [any ImageProcessor]

        /// Nil where it shows nothing new. Runs on a processor thread.
        func make(_ context: WorkContext) throws -> Image? {
            for chunk in chunks { try decoding.append(chunk, context: context) }
            guard let image = try decoding.preview(context: context) else { return nil }
            return try processors.reduce(image) { try $1.process($0, context: context) }
        }
    }

    /// Fewer bytes show nothing worth a decode.
    private static let fewestBytes = 1 << 10

    private let coders: CoderRegistry
    private let options: DecodeOptions
    private let processors: [any ImageProcessor]
    private(set) var body: ReceivedBody?
    private var decoding: (any ProgressiveDecoding)?
    private var chunksTaken = 0
    private var bytesTaken = 0
    private var isOver = false
    /// The preview that is being made.
    var work: Task<Void, Never>?

    init(coders: CoderRegistry, options: DecodeOptions, processors: [any ImageProcessor]) {
        self.coders = coders
        self.options = options
        self.processors = processors
    }

    /// The next step; nil while a preview is being made, too little is new, or the format has no previews.
    func nextStep() -> Step? {
        guard !isOver, work == nil, let body else { return nil }
        let chunks = body.chunks(from: chunksTaken)
        let bytes = bytesTaken + chunks.reduce(0) { $0 + $1.count }
        guard bytes >= max(Self.fewestBytes, bytesTaken * 2) else { return nil }
        if decoding == nil {
            // The first chunk alone may be shorter than a signature.
            let beginning = chunks.reduce(into: Data()) { if $0.count < 64 { $0.append($1.prefix(64)) } }
            decoding = coders.makeProgressive(for: beginning, options: options)
        }
        guard let decoding else {
            isOver = true
            return nil
        }
        chunksTaken += chunks.count
        bytesTaken = bytes
        return Step(decoding: decoding, chunks: chunks, processors: processors)
    }

    /// More of a body is there, or a new one: after a failed attempt what was decoded of its body is of no use.
    func take(_ body: ReceivedBody) {
        guard self.body != body else { return }
        self.body = body
        (decoding, chunksTaken, bytesTaken, isOver) = (nil, 0, 0, false)
    }

    /// The body is whole. The memory that is held for previews goes: the image's own decode may be waiting for it.
    func end() {
        (decoding, isOver) = (nil, true)
    }

    /// After an error there are no more previews of this body; what is wrong with it, the load itself will say.
    func fail(_ failed: ReceivedBody?) {
        if failed == body { isOver = true }
    }
}
