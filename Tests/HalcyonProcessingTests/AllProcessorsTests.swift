import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

/// The properties of every processor.
@Suite struct AllProcessorsTests {
    private static func sources() throws -> [Image] {
        [
            try noise(1, 1), try noise(1, 23), try noise(23, 1), try noise(2, 2), try noise(33, 17),
            try flat(9, 14, [0, 0, 0, 0]), try noise(33, 17, hasAlpha: false), try noise(1, 1, hasAlpha: false),
            try noise(1, 40, hasAlpha: false), try noise(40, 1, hasAlpha: false),
        ]
    }

    @Test func eachResultIsABitmap() throws {
        let sources = try Self.sources()
        for processor in try AllProcessors.families().flatMap(\.all) {
            for source in sources {
                let result = try source.processed(by: processor)
                expectSound(result, "\(processor) of \(source.size)")
                #expect(result.info == source.info)
                let isBlank = !result.bytes.contains { $0 != 0 }
                if source.bitmap.isOpaque { #expect(isBlank == AllProcessors.isBlank(processor), "\(processor)") }
                // As a value: the same again, and nothing of what was done before is left over.
                #expect(try source.processed(by: processor).bytes == result.bytes)
            }
        }
    }

    @Test func nothingIsMadeOfNothing() throws {
        // Only what has a colour of its own can show on a transparent image.
        let source = try flat(9, 14, [0, 0, 0, 0])
        let families = try AllProcessors.families().filter {
            ["resize", "crop to a size", "flip", "blur", "sharpen", "pixelate", "invert", "sepia"].contains($0.name)
        }
        #expect(families.count == 8)
        for processor in families.flatMap(\.all) {
            #expect(try !source.processed(by: processor).bytes.contains { $0 != 0 }, "\(processor)")
        }
    }

    @Test func longRowsAreProcessed() throws {
        for source in [try noise(16_384, 1), try noise(16_384, 1, hasAlpha: false)] {
            for family in try AllProcessors.families() where family.name != "rotate" {
                expectSound(try source.processed(by: family.base), family.name)
            }
            // At its own size: the square that holds it would be half a gigabyte.
            expectSound(try source.processed(by: .rotate(degrees: 30, fitsSize: false)), "rotate")
        }
    }

    /// Longer than 16 bits count.
    @Test(arguments: [PixelSize(40_000, 3), PixelSize(3, 40_000)])
    func sidesBeyondCairosAreProcessed(size: PixelSize) throws {
        let source = try flat(size.width, size.height)
        for family in try AllProcessors.families() where family.name != "rotate" {
            let result = try source.processed(by: family.base)
            expectSound(result, family.name)
            #expect(result.bytes.contains { $0 != 0 }, "\(family.name)")
        }
        expectNotApplicable(.rotate(degrees: 30), source)
        expectSound(try source.processed(by: .rotate(degrees: 30, fitsSize: false)), "rotate")
    }

    @Test(arguments: [PixelSize(40_000, 1), PixelSize(2, 40_000)])
    func layersAreDrawnToTheirEndsWithoutASeam(size: PixelSize) throws {
        // Several tiles each way.
        let source = try noise(size.width, size.height, hasAlpha: false)
        let inverted = try source.processed(by: .tint(.white, mode: .difference)).bytes
        #expect(inverted == (try source.processed(by: .invert)).bytes)
    }

    @Test func cancelledWorkEnds() throws {
        let (cancelled, source) = (WorkContext(isCancelled: { true }), try noise(33, 17))
        for processor in try AllProcessors.families().flatMap(\.all) {
            #expect(throws: CancellationError.self, "\(processor)") {
                try processor.process(source, context: cancelled)
            }
        }
    }

    /// A context that reports cancellation from one of the checks on.
    private final class Patience: Sendable {
        private let asked = Lock(0)
        private let limit: Int

        init(_ limit: Int = .max) { self.limit = limit }

        var questions: Int { asked.withLock { $0 } }

        var context: WorkContext {
            WorkContext { [self] in
                asked.withLock {
                    $0 += 1
                    return $0 > limit
                }
            }
        }
    }

    @Test func workThatIsCancelledInTheMiddleEndsThere() throws {
        let source = try noise(256, 600)
        for family in try AllProcessors.families() where family.questions > 0 {
            let patient = Patience()
            _ = try family.base.process(source, context: patient.context)
            #expect(patient.questions >= family.questions, "\(family.name) asks \(patient.questions) times")
            let impatient = Patience(patient.questions / 2)
            #expect(throws: CancellationError.self, "\(family.name)") {
                try family.base.process(source, context: impatient.context)
            }
            #expect(impatient.questions == patient.questions / 2 + 1, "\(family.name)")
        }
    }

    @Test func largeSquaresAreCalledOffInTheirMiddle() throws {
        let (source, impatient) = (try noise(8, 600), Patience(3))
        #expect(throws: CancellationError.self) {
            try PixelateProcessor(side: 600).process(source, context: impatient.context)
        }
        #expect(impatient.questions == 4)
    }
}
