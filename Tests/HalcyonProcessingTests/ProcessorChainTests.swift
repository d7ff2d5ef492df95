import Halcyon
import HalcyonImage
import HalcyonProcessing
import Testing

/// Chains: the lists that they stand for, however they are written.
@Suite struct ProcessorChainTests {
    private static let (crop, blur, flip): (CropProcessor, BlurProcessor, FlipProcessor) = (
        .crop(to: PixelSize(12, 9)), .blur(radius: 1.5), .flip(.vertical)
    )

    private func key(_ processor: any ImageProcessor) -> [UInt8] {
        var encoder = KeyEncoder()
        processor.encode(into: &encoder)
        return encoder.bytes
    }

    /// Crop, then blur, then flip.
    private static var spellings: [ChainProcessor] {
        [
            crop |> blur |> flip, crop |> (blur |> flip), crop.appending(blur |> flip),
            crop.appending(blur).appending(flip), ChainProcessor([crop, blur, flip]),
            ChainProcessor([ChainProcessor([crop]), ChainProcessor([ChainProcessor([blur, flip])])]),
            ChainProcessor([]) |> crop |> blur |> ChainProcessor([]) |> flip,
            ChainProcessor([
                ChainProcessor([]), crop, blur, flip, ChainProcessor([ChainProcessor([])]),
            ]),
        ]
    }

    @Test func allSpellingsAreOneChain() throws {
        let first = try #require(Self.spellings.first)
        let source = try noise(23, 17)
        let result = try source.processed(by: Self.crop).processed(by: Self.blur).processed(by: Self.flip)
        for (index, chain) in Self.spellings.enumerated() {
            #expect(chain == first && chain.hashValue == first.hashValue, "\(index)")
            #expect(chain.isEqual(to: first))
            #expect(key(chain) == key(first), "\(index)")
            #expect(chain.processors.count == 3)
            #expect(try source.processed(by: chain).bytes == result.bytes)
        }
    }

    @Test func listsAreFlattened() {
        let list: [any ImageProcessor] = [
            ChainProcessor([]), Self.crop, Self.blur |> ChainProcessor([Self.flip]),
            ChainProcessor([ChainProcessor([])]),
        ]
        let flat = list.flattened
        let expected: [any ImageProcessor] = [Self.crop, Self.blur, Self.flip]
        #expect(flat.count == 3 && zip(flat, expected).allSatisfy { $0.isEqual(to: $1) })
        #expect(flat.flattened.count == 3)
        #expect([any ImageProcessor]().flattened.isEmpty)
    }

    @Test func aChainOfOneHasItsKey() {
        #expect(key(ChainProcessor([Self.blur])) == key(Self.blur))
        #expect(key(ChainProcessor([ChainProcessor([]), Self.blur])) == key(Self.blur))
    }

    @Test func orderAndNumberMakeAnotherChain() {
        let (crop, blur, flip) = (Self.crop, Self.blur, Self.flip)
        let chains = [
            crop |> blur |> flip, crop |> flip |> blur, flip |> blur |> crop, crop |> blur, blur |> flip,
            crop |> blur |> flip |> flip,
            crop |> crop, blur |> blur, blur |> blur |> blur, ChainProcessor([blur]), ChainProcessor([crop]),
            ChainProcessor([]),
        ]
        for (index, one) in chains.enumerated() {
            for other in chains[(index + 1)...] {
                #expect(one != other)
                #expect(key(one) != key(other), "\(one) and \(other)")
            }
        }
        // A parameter inside of one counts.
        let (one, other) = (crop |> blur, crop |> BlurProcessor(radius: 1.5.nextUp))
        #expect(one != other)
        #expect(key(one) != key(other))
    }

    @Test func allOfAChainIsValidated() throws {
        try (Self.crop |> Self.blur |> Self.flip).validate()
        try ChainProcessor([]).validate()
        for chain in [Self.crop |> BlurProcessor(radius: -1) |> Self.flip, PixelateProcessor(side: 0) |> Self.flip] {
            #expect(throws: ProcessingError.self) { try chain.validate() }
            expectInvalidArgument(chain, try noise(20, 20))
        }
    }

    @Test func processorsWithNaNAreEqual() {
        // It is unequal to itself, and its jobs must still be found.
        let (one, other) = (Self.flip |> BlurProcessor(radius: .nan), Self.flip |> BlurProcessor(radius: .nan))
        #expect(one.isEqual(to: other))
        #expect(BlurProcessor(radius: .nan).isEqual(to: BlurProcessor(radius: .nan)))
        #expect(!BlurProcessor(radius: .nan).isEqual(to: BlurProcessor(radius: -.nan)))
    }
}
