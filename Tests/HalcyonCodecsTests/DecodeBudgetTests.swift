import Foundation
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

@testable import HalcyonCodecs

/// The memory that decodes reserve.
@Suite(.timeLimit(.minutes(5))) struct DecodeBudgetTests {
    /// Threads that may be blocked, as those of Swift's pool may not.
    private let threads = ThreadPool(name: "decodes", threads: 1)

    private func registry(_ capacity: Int) -> CoderRegistry {
        CoderRegistry(CoderRegistry.standard().coders.reversed(), budget: DecodeBudget(capacity: capacity))
    }

    @Test func decodeBeyondBudgetIsRefusedWithItsSize() throws {
        let file = try Fixture.read("png/rgb8.png")
        let needed = 48 * 32 * 4
        let expected = CodecError.limitExceeded(
            "bytes of memory for the decode", value: needed, limit: needed - 1)
        #expect(throws: expected) { try registry(needed - 1).decode(file) }
        #expect(try registry(needed).decode(file).width == 48)
        // A reduction of rows needs no whole bitmap.
        let small = DecodeOptions(target: TargetSize(PixelSize(12, 8)))
        #expect(try registry(12 * 8 * 4).decode(file, options: small).width == 12)
    }

    @Test func reservedBytesAreReturnedAfterDecode() throws {
        let registry = registry(1 << 20)
        for fixture in Fixture.all {
            _ = try? registry.decode(fixture.data())
            _ = try? registry.decode(fixture.data().prefix(fixture.data().count / 2))
        }
        #expect(registry.budget.available == 1 << 20)
    }

    @Test func aDecodeWaitsForWhatOthersHold() async throws {
        let registry = registry(48 * 32 * 4)
        let budget = registry.budget
        let hold = Lock(budget.hold(1))
        let decode = Task { [threads] in
            try await threads.run { _ in try registry.decode(Fixture.read("png/rgb8.png")).size }
        }
        while budget.bytes.waitingCount == 0 { await Task.yield() }
        hold.withLock { $0 = nil }
        #expect(try await decode.value == PixelSize(48, 32))
        #expect(budget.available == budget.capacity)
    }

    @Test func theWaitCanBeCancelled() async throws {
        let registry = registry(48 * 32 * 4)
        let hold = try #require(registry.budget.hold(1))
        let isCancelled = Lock(false)
        let decode = Task { [threads] in
            try await threads.run { _ in
                try registry.decode(
                    Fixture.read("png/rgb8.png"), context: WorkContext { isCancelled.withLock { $0 } }
                ).size
            }
        }
        while registry.budget.bytes.waitingCount == 0 { await Task.yield() }
        isCancelled.withLock { $0 = true }
        await #expect(throws: CancellationError.self) { try await decode.value }
        #expect(registry.budget.bytes.waitingCount == 0)
        #expect(registry.budget.available == registry.budget.capacity - 1)
        withExtendedLifetime(hold) {}
    }

    /// The memory that each format needs beside the data and its pixels, depending on its library.
    @Test func plansSayWhatTheyTake() throws {
        let whole = 48 * 32 * 4
        let expected: [(String, Int)] = [
            ("png/rgb8.png", whole), ("jpeg/baseline-444.jpg", whole),
            // One and a half samples of two bytes for each pixel.
            ("jpeg/progressive.jpg", whole + 48 * 32 * 3),
            // Turned: once more.
            ("jpeg/orientation-6.jpg", whole * 2),
            ("webp/lossy.webp", whole), ("webp/lossless.webp", whole * 2),
        ]
        for (file, bytes) in expected {
            #expect(try CoderRegistry.shared.plan(Fixture.read(file)).workingBytes == bytes, "\(file)")
        }
    }

    @Test(arguments: ["jpeg/progressive.jpg", "jpeg/baseline-420.jpg", "png/rgb8.png"])
    func withoutMemoryThereAreNoPreviews(_ file: String) throws {
        let data = try Fixture.read(file)
        let capacity = try CoderRegistry.shared.plan(data).workingBytes
        let budget = DecodeBudget(capacity: capacity)
        var others = budget.bytes.holdNow(capacity)
        #expect(others != nil)
        let isPNG = file.hasSuffix("png")
        let decoding: any ProgressiveDecoding =
            isPNG
            ? PNGCoder().makeProgressive(options: DecodeOptions(), budget: budget)
            : JPEGProgressiveDecoding(options: DecodeOptions(), budget: budget)
        for start in stride(from: 0, to: data.count, by: 100) {
            try decoding.append(data[data.startIndex + start..<min(data.endIndex, data.startIndex + start + 100)])
            #expect(try decoding.preview(context: .uncancellable) == nil)
        }
        others = nil
        let image = try decoding.finish(context: .uncancellable)
        #expect(try largestDifference(image.bitmap.bytes, CoderRegistry.shared.decode(data).bitmap.bytes) == 0)
        #expect(budget.available == capacity)
    }

    @Test func previewsLeaveHalfToDecodes() throws {
        let budget = DecodeBudget(capacity: 100)
        #expect(budget.hold(51) == nil)
        let hold = try #require(budget.hold(50))
        #expect(budget.hold(1) == nil)
        withExtendedLifetime(hold) {}
    }

    @Test func previewsHoldTheirMemoryWhileTheyLive() throws {
        let data = try Fixture.read("jpeg/progressive.jpg")
        let budget = DecodeBudget(capacity: 1 << 20)
        var decoding: JPEGProgressiveDecoding? = JPEGProgressiveDecoding(options: DecodeOptions(), budget: budget)
        try decoding?.append(data.prefix(data.count / 2))
        #expect(budget.available < budget.capacity)
        decoding = nil
        #expect(budget.available == budget.capacity)
    }
}
