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
            for chunk in chunks { try decoding.append(chunk) }
            guard let image = try decoding.preview(context: context) else { return nil }
            return try processors.reduce(image) { try $1.process($0, context: context) }
        }
    }

    /// Fewer bytes show nothing worth a decode.
    private static let fewestBytes = 1 << 10

    private let options: DecodeOptions
    private let processors: [any ImageProcessor]
    private var body: ReceivedBody?
    private var decoding: (any ProgressiveDecoding)?
    private var chunksTaken = 0
    private var bytesTaken = 0
    private var isOver = false
    /// The preview that is being made.
    var work: Task<Void, Never>?

    init(options: DecodeOptions, processors: [any ImageProcessor]) {
        self.options = options
        self.processors = processors
    }

    /// The next step of a body; nil while a preview is being made, too little is new, or the format has no previews.
    func nextStep(of body: ReceivedBody, coders: CoderRegistry) -> Step? {
        if self.body != body {
            // A failed attempt is retried: what was decoded of its body is of no use.
            self.body = body
            (decoding, chunksTaken, bytesTaken, isOver) = (nil, 0, 0, false)
        }
        guard !isOver, work == nil else { return nil }
        let chunks = body.chunks(from: chunksTaken)
        let bytes = bytesTaken + chunks.reduce(0) { $0 + $1.count }
        guard bytes >= max(Self.fewestBytes, bytesTaken * 2), let first = chunks.first else { return nil }
        if decoding == nil { decoding = coders.makeProgressive(for: first, options: options) }
        guard let decoding else {
            isOver = true
            return nil
        }
        chunksTaken += chunks.count
        bytesTaken = bytes
        return Step(decoding: decoding, chunks: chunks, processors: processors)
    }

    /// After an error there are no more previews of this body; what is wrong with it, the load itself will say.
    func fail() {
        isOver = true
    }
}
