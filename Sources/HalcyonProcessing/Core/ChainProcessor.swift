import HalcyonImage
import HalcyonSystem

/// A processor that applies several processors in order.
///
/// A chain is equivalent to the list of its processors: nested chains are flattened, and a request with a chain has
/// the same key as one with its processors. `appending(_:)` and the operator `|>` make a chain of two processors.
public struct ChainProcessor: ImageProcessor {
    /// The processors in order; none of them is a chain.
    package let processors: [any ImageProcessor]

    /// Creates a chain of processors, which are applied in order. Nested chains are flattened; an empty chain changes
    /// nothing.
    package init(_ processors: [any ImageProcessor]) {
        self.processors = processors.flattened
    }

    public var appliesPerFrame: Bool { processors.allSatisfy(\.appliesPerFrame) }

    public func encode(into key: inout KeyEncoder) {
        // A chain of one processor has that processor's encoding.
        if processors.count == 1 { return processors[0].encode(into: &key) }
        key.encode(type: "halcyon.chain", version: 1)
        // The count keeps the encoding of one chain from being a prefix of a longer one's.
        key.encode(processors.count)
        for processor in processors { key.encode(nested: { processor.encode(into: &$0) }) }
    }

    public func validate() throws {
        for processor in processors { try processor.validate() }
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try processors.process(image, context: context)
    }

    public static func == (left: ChainProcessor, right: ChainProcessor) -> Bool {
        left.processors.isEqual(to: right.processors)
    }

    public func hash(into hasher: inout Hasher) {
        for processor in processors { hasher.combine(processor) }
    }
}

extension ImageProcessor {
    /// Returns a chain of this processor and another one.
    public func appending(_ next: any ImageProcessor) -> ChainProcessor { ChainProcessor([self, next]) }
}

extension [any ImageProcessor] {
    /// Compares two lists of processors of any types.
    package func isEqual(to other: [any ImageProcessor]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isEqual(to: $1) }
    }

    /// The processors, with each chain replaced by its own processors.
    package var flattened: [any ImageProcessor] {
        // Types are compared, since a cast takes as long as a look-up in a cache.
        guard contains(where: { type(of: $0) == ChainProcessor.self }) else { return self }
        return flatMap { ($0 as? ChainProcessor)?.processors ?? [$0] }
    }
}
