import Foundation
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

@testable import DecodeBox

/// Workers that somebody has taken over: nothing of what they answer is believed.
@Suite(.timeLimit(.minutes(5))) struct LyingWorkerTests {
    private func decode(_ lie: Lie, _ workers: DecodeWorkers) throws -> Image {
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        return try CoderRegistry([AttackCoder()]).decode(lie.file, options: options)
    }

    private func workers() -> DecodeWorkers {
        DecodeWorkers(count: 1, program: .file(Worker.lying), timeLimit: .seconds(2))
    }

    private static let refused: [Lie] = [
        .planOfAnotherFormat, .garbage, .nothing, .longMessage, .descriptor, .anotherNumber, .anotherSize, .moreFrames,
        .longProfile, .depth, .gainMap, .colorsAsStored, .preview, .anotherAnswer, .cutMessage, .negativeCounts,
        .anotherPart, .repeatedPart,
        .partOfASmallImage, .endlessParts,
        .atOnceOfAnotherSize, .atOnceOfAnotherFormat, .atOnceOfMoreMemory, .atOnceLarge,
    ]

    @Test(arguments: refused)
    func aLieEndsTheWorker(_ lie: Lie) throws {
        let workers = workers()
        do {
            _ = try decode(lie, workers)
            Issue.record("\(lie) made an image")
        } catch CodecError.stopped(.attack, .invalidAnswer) {
            #expect(workers.statistics.workers == 0)
        }
        #expect(try decode(.tellsTheTruth, workers).size == AttackCoder.size)
    }

    /// Deep pixels of another colour space than the one that was asked for, and of none with light above white where that may be one.
    @Test(arguments: [(Lie.pqOfDeepPixels, false), (.linearDeepPixels, false), (.linearDeepPixels, true)])
    func aLieAboutDeepPixelsEndsTheWorker(_ lie: Lie, keepsDynamicRange: Bool) throws {
        let workers = workers()
        let options = DecodeOptions(
            isolation: .isolated(workers: workers), depth: .init(), keepsDynamicRange: keepsDynamicRange)
        #expect {
            try CoderRegistry([AttackCoder()]).plan(lie.file, options: options)
        } throws: { error in
            guard case .stopped(.attack, .invalidAnswer)? = error as? CodecError else { return false }
            return true
        }
        #expect(workers.statistics.workers == 0)
    }

    @Test func deepPixelsMayHaveTheLightOfTheirSource() throws {
        let options = DecodeOptions(
            isolation: .isolated(workers: workers()), depth: .init(), keepsDynamicRange: true)
        let plan = try CoderRegistry([AttackCoder()]).plan(Lie.pqOfDeepPixels.file, options: options)
        #expect(plan.finalSize == AttackCoder.size)
        #expect(plan.depth?.colorSpace == .bt2020PQ)
    }

    @Test(arguments: [Lie.tooManyFrames, .noFrames, .longFrame])
    func aLieAboutFramesEndsTheWorker(_ lie: Lie) throws {
        let workers = workers()
        let animation = try #require(try decode(lie, workers).animation)
        #expect(animation.frameCount == 3)
        do {
            _ = try animation.frame(at: 1)
            Issue.record("\(lie) made a frame")
        } catch CodecError.stopped(.attack, .invalidAnswer) {}
        let honest = try #require(try decode(.threeFrames, workers).animation)
        for index in 0..<3 { #expect(try honest.frame(at: index).bytes.allSatisfy { $0 == 0xFF }) }
    }

    @Test(arguments: [
        Lie.previewThatIsWhole, .previewOfAnotherFormat, .previewOfALongProfile,
    ])
    func aLieAboutAPreviewEndsTheWorker(_ lie: Lie) throws {
        let workers = workers()
        func decoding(_ lie: Lie) throws -> any ProgressiveDecoding {
            let options = DecodeOptions(isolation: .isolated(workers: workers))
            let made = CoderRegistry([AttackCoder()]).makeProgressive(for: lie.file, options: options)
            let decoding = try #require(made)
            try decoding.append(lie.file)
            return decoding
        }
        let lying = try decoding(lie)
        do {
            _ = try lying.preview(context: .uncancellable)
            Issue.record("\(lie) made a preview")
        } catch CodecError.stopped(.attack, .invalidAnswer) {}
        // A file may say that it is of another size when more of it has arrived: there is no preview, and the worker stays.
        let faults = workers.statistics.faults
        #expect(try decoding(.previewOfAnotherSize).preview(context: .uncancellable) == nil)
        #expect(workers.statistics.faults == faults)
        let image = try decoding(.previewThatIsTrue).preview(context: .uncancellable)
        #expect(image?.size == AttackCoder.size)
    }

    @Test(arguments: [(Lie.hugePlan, "limitExceeded"), (.emptyPlan, "damagedImage"), (.hugeMemory, "limitExceeded")])
    func aPlanBeyondTheLimitsIsRefused(_ lie: Lie, _ code: String) {
        #expect {
            try decode(lie, workers())
        } throws: { ($0 as? CodecError)?.code == code }
    }

    @Test func memoryDoesNotShrink() throws {
        let image = try decode(.shrinks, workers())
        #expect(image.bitmap.bytes.allSatisfy { $0 == 0xFF })
    }

    @Test func aLargeResultComesInParts() throws {
        let image = try decode(.manyParts, workers())
        #expect(image.size == PixelSize(1024, 1024))
        #expect(image.bitmap.bytes.allSatisfy { $0 == 0xFF })
    }

    @Test func aWorkerThatOnlyClosesItsChannelIsEnded() throws {
        #expect(throws: CodecError.stopped(.attack, .signal(SIGKILL))) { try decode(.closesChannel, workers()) }
    }

    @Test func silenceHasALimit() throws {
        #expect(throws: CodecError.stopped(.attack, .timeLimit(.seconds(2)))) { try decode(.silence, workers()) }
    }

    @Test func aMessageThatNobodyAskedForEndsTheWorker() throws {
        let workers = workers()
        #expect(try decode(.secondMessage, workers).size == AttackCoder.size)
        // It is noticed before the next request, or, where it comes later, as the answer to that.
        do {
            _ = try decode(.tellsTheTruth, workers)
        } catch CodecError.stopped(.attack, .invalidAnswer) {}
        #expect(try decode(.tellsTheTruth, workers).size == AttackCoder.size)
        #expect(workers.statistics.started == 2)
    }
}
