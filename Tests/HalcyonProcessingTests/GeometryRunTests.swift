import Foundation
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import TestSupport
import Testing

/// Adjacent processors that cut, turn and scale are executed as one; the result must not show it.
@Suite struct GeometryRunTests {
    /// `HALCYON_SOAK` runs the full count.
    private static let lists = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 2_000 : 200_000

    /// One processor after the other.
    private func plainly(_ processors: [any ImageProcessor], _ image: Image) throws -> Image {
        try processors.reduce(image) { try $1.process($0, context: .uncancellable) }
    }

    private func randomCrop(_ random: inout SplitMix) -> CropProcessor {
        if Bool.random(using: &random) {
            return .crop(
                to: PixelSize(.random(in: 1...24, using: &random), .random(in: 1...24, using: &random)),
                anchorX: .random(in: -0.2...1.2, using: &random), anchorY: .random(in: -0.2...1.2, using: &random))
        }
        return .crop(
            PixelRect(
                x: .random(in: -6...8, using: &random), y: .random(in: -6...8, using: &random),
                width: .random(in: 1...24, using: &random), height: .random(in: 1...24, using: &random)))
    }

    private func randomResize(_ random: inout SplitMix) -> ResizeProcessor {
        let filters: [ResizeFilter] = [.lanczos, .area, .bilinear]
        return ResizeProcessor(
            PixelSize(.random(in: 1...26, using: &random), .random(in: 1...26, using: &random)),
            mode: ResizeMode.allCases.randomElement(using: &random) ?? .fit, upscale: .random(using: &random),
            filter: filters.randomElement(using: &random) ?? .area,
            light: ResizeLight.allCases.randomElement(using: &random) ?? .linear)
    }

    /// One to six steps, of which `scalings` at most scale.
    private func randomList(_ random: inout SplitMix, scalings: Int) -> [any ImageProcessor] {
        var left = scalings
        return (0..<Int.random(in: 1...6, using: &random)).map { _ in
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return randomCrop(&random)
            case 1: return FlipProcessor(.random(using: &random) ? .horizontal : .vertical)
            case 2 where left > 0:
                left -= 1
                return randomResize(&random)
            default: return RotateProcessor(degrees: 90 * Double.random(in: -5...5, using: &random).rounded())
            }
        }
    }

    private func difference(_ one: Image, _ other: Image) -> Int {
        zip(one.bytes, other.bytes).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    @Test(arguments: 0..<4)
    func aRunIsOneStepAfterTheOther(seed: Int) throws {
        var random = SplitMix(state: UInt64(seed))
        let sources = [try noise(19, 13), try noise(7, 16, hasAlpha: false), try noise(12, 1)]
        var (whole, failed) = (0, 0)
        for index in 0..<Self.lists / 4 {
            let (list, source) = (randomList(&random, scalings: 1), sources[index % sources.count])
            let plain = Result { try plainly(list, source) }
            let run = Result { try list.process(source, context: .uncancellable) }
            switch (plain, run) {
            case (.success(let plain), .success(let run)):
                try #require(run.size == plain.size, "\(list)")
                #expect(difference(run, plain) <= 1, "\(list) of \(source.size)")
                expectSound(run, "\(list)")
                #expect(run.bitmap.isOpaque == plain.bitmap.isOpaque && run.info == plain.info)
                whole += 1
            case (.failure(let plain), .failure(let run)):
                #expect("\(plain)" == "\(run)")
                #expect(run is ProcessingError)
                failed += 1
            default: Issue.record("\(list): \(plain) and \(run)")
            }
        }
        // Neither is so rare that it is not tested.
        #expect(whole > Self.lists / 8 && failed > 10)
    }

    @Test func severalScalingsAreSeveralRuns() throws {
        // Each run is within one level of its steps. So that what one rounds is not magnified by the next, each begins
        // with what its steps made.
        var random = SplitMix(state: 77)
        let source = try noise(19, 13)
        for _ in 0..<Self.lists / 10 {
            let list = randomList(&random, scalings: 6)
            guard let result = try? list.process(source, context: .uncancellable) else { continue }
            var (image, rest) = (source, list[...])
            while !rest.isEmpty {
                let scalings = rest.indices.filter { rest[$0] is ResizeProcessor }.dropFirst()
                let run = Array(rest[..<(scalings.first ?? rest.endIndex)])
                let plain = try plainly(run, image)
                let fused = try run.process(image, context: .uncancellable)
                try #require(fused.size == plain.size)
                #expect(difference(fused, plain) <= 1, "\(run)")
                (image, rest) = (fused, rest.dropFirst(run.count))
            }
            #expect(result.bytes == image.bytes, "\(list)")
        }
    }

    @Test func othersStandBetweenRuns() throws {
        let source = try noise(23, 17)
        let list: [any ImageProcessor] = [
            .crop(to: PixelSize(20, 15)), .flip(.vertical), .blur(radius: 1), .rotate(degrees: 90),
            .resize(to: PixelSize(9, 9), filter: .nearest), .flip(.horizontal), .rotate(degrees: 30),
            .rotate(degrees: 180),
            .rotate(degrees: 90, fitsSize: false), .rotate(degrees: 90, background: .white),
        ]
        // Nothing is scaled but to the nearest, so that all is exact.
        #expect(try list.process(source, context: .uncancellable).bytes == plainly(list, source).bytes)
        for start in list.indices {
            let rest = Array(list[start...])
            #expect(try rest.process(source, context: .uncancellable).bytes == plainly(rest, source).bytes)
        }
    }

    @Test func noProcessorsChangeNothing() throws {
        let (source, none) = (try noise(8, 8), [any ImageProcessor]())
        #expect(try none.process(source, context: .uncancellable).bitmap === source.bitmap)
        #expect(try ChainProcessor([]).process(source, context: .uncancellable).bitmap === source.bitmap)
    }

    @Test func aCancelledRunEnds() throws {
        let list: [any ImageProcessor] = [.flip(.vertical), .resize(to: PixelSize(5, 5)), .rotate(degrees: 90)]
        let source = try noise(20, 20)
        #expect(throws: CancellationError.self) {
            try list.process(source, context: WorkContext(isCancelled: { true }))
        }
    }
}
