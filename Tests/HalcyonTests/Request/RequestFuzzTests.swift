import HalcyonProcessing
import Foundation
import Halcyon
import HalcyonSystem
import TestSupport
import Testing

@testable import Halcyon

/// Requests with equal keys have equal images, in memory and on disk, and those that differ in either differ in both.
@Suite(.timeLimit(.minutes(60))) struct RequestFuzzTests {
    /// `HALCYON_SOAK` runs the full count.
    private static let pairs = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 10_000 : 1_000_000

    private struct Outcome: Equatable {
        let size: PixelSize?
        let pixels: [UInt8]
    }

    private let files = ["opaque.png", "soft.png"]

    /// So small that a million of them are made in minutes.
    private static func picture(hasAlpha: Bool) throws -> Data {
        var random = SplitMix(state: hasAlpha ? 2 : 1)
        let pixels = (0..<12 * 9 * 4).map { index in
            !hasAlpha && index % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
        }
        return try Image(width: 12, height: 9, pixels: pixels, layout: .rgba).data(as: .png)
    }

    private func outcome(_ key: ImageKey, _ data: Data) -> Outcome {
        let (options, processors) = key.steps
        guard let image = try? CoderRegistry.shared.decode(data, options: options),
            let result = try? processors.process(image, context: .uncancellable)
        else { return Outcome(size: nil, pixels: []) }
        return Outcome(size: result.size, pixels: result.withPixels { Array($0) })
    }

    private func request(_ random: inout RandomProcessors, _ processors: [any ImageProcessor]) -> ImageRequest {
        var request = ImageRequest(PipelineFixture.url(files[random.below(2)]), processors: processors)
        if random.below(3) == 0 {
            request.decode.target = TargetSize(PixelSize(4 + random.below(2), 4), mode: .fit)
        }
        if random.below(4) == 0 { request.decode.region = PixelRect(x: 0, y: random.below(2), width: 9, height: 7) }
        return request
    }

    /// The same list in another spelling.
    private func respelled(_ list: [any ImageProcessor], _ random: inout RandomProcessors) -> [any ImageProcessor] {
        var result: [any ImageProcessor] = []
        var rest = list[...]
        while !rest.isEmpty {
            let count = 1 + random.below(rest.count)
            let part = Array(rest.prefix(count))
            if random.below(2) == 0 { result.append(ChainProcessor(part)) } else { result += part }
            rest = rest.dropFirst(count)
        }
        return random.below(4) == 0 ? [ChainProcessor(result)] : result
    }

    @Test func equalKeysAreEqualImages() throws {
        var random = RandomProcessors(seed: 6)
        let cache = ImageCache(disk: nil)
        let data = Dictionary(
            uniqueKeysWithValues: try files.map {
                (PipelineFixture.url($0).absoluteString, try Self.picture(hasAlpha: $0 == "soft.png"))
            })
        var equal = 0
        for number in 0..<Self.pairs {
            let list = random.list()
            let one = request(&random, list)
            var other = one
            switch random.below(4) {
            case 0: other = request(&random, random.list())
            case 1: other.processors = random.list()
            case 2: other.processors = respelled(list, &random)
            default: other.processors.swapAt(0, max(0, list.count - 1), in: list)
            }
            let (left, right) = (cache.key(for: one), cache.key(for: other))
            let sameOnDisk = left.processedEntryKey == right.processedEntryKey
            // A blend of nothing may be two values with one result, never two results with one value.
            try #require((left == right) == sameOnDisk, "pair \(number): \(one.processors), \(other.processors)")
            guard left == right else { continue }
            equal += 1
            try #require(left.hashValue == right.hashValue, "pair \(number)")
            let bytes = try #require(data[left.source])
            try #require(outcome(left, bytes) == outcome(right, bytes), "pair \(number): \(one.processors)")
        }
        #expect(equal > Self.pairs / 4)
    }
}

extension [any ImageProcessor] {
    /// Nothing to exchange in an empty list.
    fileprivate mutating func swapAt(_ one: Int, _ other: Int, in list: [any ImageProcessor]) {
        if !list.isEmpty { swapAt(one, other) }
    }
}
