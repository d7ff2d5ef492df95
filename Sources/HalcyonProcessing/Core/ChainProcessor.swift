import HalcyonImage
import HalcyonSystem

/// Several processors in a row, as one.
///
/// It is the list that it stands for: chains of chains are one chain, and a request with a chain has the key of one with its
/// processors. Made of two processors by `+` or `|>`.
public struct ChainProcessor: ImageProcessor {
    /// In order; none of them is a chain.
    public let processors: [any ImageProcessor]

    public init(_ processors: [any ImageProcessor]) {
        self.processors = processors.flattened
    }

    public var appliesPerFrame: Bool { processors.allSatisfy(\.appliesPerFrame) }

    public func encode(into key: inout KeyEncoder) {
        // As one alone writes itself.
        if processors.count == 1 { return processors[0].encode(into: &key) }
        key.encode(type: "halcyon.chain", version: 1)
        // So that a longer one does not begin with it.
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
        left.processors.count == right.processors.count
            && zip(left.processors, right.processors).allSatisfy { $0.isEqual(to: $1) }
    }

    public func hash(into hasher: inout Hasher) {
        for processor in processors { hasher.combine(processor) }
    }
}

extension ImageProcessor where Self == ChainProcessor {
    /// Several processors in a row.
    public static func chain(_ processors: [any ImageProcessor]) -> Self { ChainProcessor(processors) }
}

extension ImageProcessor {
    /// This processor, then another.
    public func appending(_ next: any ImageProcessor) -> ChainProcessor { ChainProcessor([self, next]) }

    /// The left one, then the right one.
    public static func + (left: Self, right: any ImageProcessor) -> ChainProcessor { left.appending(right) }
}

precedencegroup ProcessorChainPrecedence {
    associativity: left
    higherThan: AdditionPrecedence
}

infix operator |> : ProcessorChainPrecedence

/// The left one, then the right one.
public func |> (left: any ImageProcessor, right: any ImageProcessor) -> ChainProcessor {
    ChainProcessor([left, right])
}

extension [any ImageProcessor] {
    /// With the processors of each chain in its place.
    package var flattened: [any ImageProcessor] {
        guard contains(where: { $0 is ChainProcessor }) else { return self }
        return flatMap { ($0 as? ChainProcessor)?.processors ?? [$0] }
    }
}
