import Dispatch
import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Progress for handlers that are slower than the transfer.
@Suite(.timeLimit(.minutes(5)))
struct SlowHandlerTests {
    /// Runs a task on a thread that it may block.
    private final class OwnThread: TaskExecutor {
        private let queue = DispatchQueue(label: "slow-handler")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// A subscriber that joins is in its handler, and stays there while everything arrives.
    @Test func aSlowHandlerIsToldTheNewestAndHoldsNobodyUp() async throws {
        let fixture = DownloaderFixture()
        let pieces = 500
        let (more, end) = (ScriptedTransportGate(), ScriptedTransportGate())
        let chunk = ScriptedTransport.Answer.Step.chunk(Data(count: 10))
        fixture.transport.answer(
            fixture.url(),
            with: .init(steps: [chunk, .wait(more)] + Array(repeating: chunk, count: pieces - 1) + [.wait(end)]))
        let (told, late) = (Lock<[Int]>([]), Lock<[Int]>([]))
        let task = Task {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url())) { progress in
                told.withLock { $0.append(progress.received) }
            }
        }
        while told.withLock({ $0.last }) != 10 { await Task.yield() }
        let (entered, released) = (RawServerGate(), RawServerGate())
        let slow = Task(executorPreference: OwnThread()) {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url())) { progress in
                late.withLock { $0.append(progress.received) }
                entered.open()
                released.block()
            }
        }
        await entered.opened()
        more.open()
        // The other one has received its progress as well once the body waits for its end.
        while told.withLock({ $0.last }) != pieces * 10 || fixture.downloader.silentCount < 1 { await Task.yield() }
        released.open()
        while late.withLock({ $0.last }) != pieces * 10 { await Task.yield() }
        end.open()
        #expect(try await task.value.data.count == pieces * 10)
        #expect(try await slow.value.data.count == pieces * 10)
        #expect(told.withLock { $0 } == (0...pieces).map { $0 * 10 })
        #expect(late.withLock { $0 } == [10, pieces * 10])
        #expect(fixture.transport.requestCount == 1)
    }
}
