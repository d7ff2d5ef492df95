import Dispatch
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@Suite struct CallbackTests {
    @Test func theCallbackRunsOnItsQueueExactlyOnce() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let queue = DispatchQueue(label: "callbacks")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let isOnQueue = await withCheckedContinuation { continuation in
            // A second call would be a misuse of the continuation, which traps.
            fixture.pipeline.load(ImageRequest(url), callbackQueue: .queue(queue)) { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: key) ?? false)
            }
        }
        #expect(isOnQueue)
    }

    @Test func anInlineCallbackOfAMemoryHitRunsInTheSameCall() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        let calls = Counter()
        fixture.pipeline.load(ImageRequest(url), callbackQueue: .inline) { result in
            if case .success(let response) = result, response.origin == .memory { calls.increment() }
        }
        #expect(calls.value == 1)
    }

    /// Each load begins in the callback of the one before, on the thread that ends loads. Calls within each other would exhaust
    /// that thread's stack.
    @Test func inlineCallbacksThatBeginTheNextLoadDoNotDeepenTheStack() async throws {
        let fixture = PipelineFixture()
        await withCheckedContinuation { continuation in
            Self.chain(5_000, in: fixture.pipeline) { continuation.resume() }
        }
        #expect(await fixture.pipeline.runningCount == 0)
    }

    private static func chain(_ count: Int, in pipeline: ImagePipeline, _ end: @escaping @Sendable () -> Void) {
        guard count > 0 else { return end() }
        pipeline.load(ImageRequest(URL?.none), callbackQueue: .inline) { _ in chain(count - 1, in: pipeline, end) }
    }

    @Test @MainActor func onTheMainThreadAMemoryHitIsInlineOrLaterAsAskedFor() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        let (inline, later) = (Counter(), Counter())
        fixture.pipeline.load(ImageRequest(url), callbackQueue: .mainOrInline) { _ in inline.increment() }
        #expect(inline.value == 1)
        await withCheckedContinuation { continuation in
            fixture.pipeline.load(ImageRequest(url), callbackQueue: .mainAsync) { _ in
                // Traps where this is not the main actor.
                MainActor.assumeIsolated { later.increment() }
                continuation.resume()
            }
            #expect(later.value == 0)
        }
        #expect(later.value == 1)
    }
}
