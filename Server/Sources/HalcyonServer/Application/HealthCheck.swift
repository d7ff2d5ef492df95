import Foundation
import Halcyon
import NIOConcurrencyHelpers
import Synchronization

/// The answer to whether the server can work: it decodes a picture of one pixel where files of strangers are decoded, at most once a
/// second.
///
/// The decode has a thread of its own, one at a time: a pool whose threads all wait for slow files would say nothing on the server.
final class HealthCheck: Sendable {
    /// A caller that waits for the decode that runs, and the timer that ends its wait.
    private struct Caller {
        let continuation: CheckedContinuation<Bool, Never>
        var timer: Task<Void, Never>?
    }

    private struct State {
        var last: (time: ContinuousClock.Instant, isHealthy: Bool)?
        var isLooking = false
        var callers: [Int: Caller] = [:]
        var lastCaller = 0
    }

    private let decodes: @Sendable () -> Bool
    private let patience: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = NIOLockedValueBox(State())
    private let stops = Atomic(false)

    /// - Parameters:
    ///   - patience: the time after which a decode that has not ended counts as failed, 5 s by default.
    ///   - sleep: waits for a time, and throws when its task is cancelled.
    ///   - decodes: the decode, on a thread of its own.
    init(
        patience: Duration = .seconds(5),
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        decodes: @escaping @Sendable () -> Bool
    ) {
        (self.patience, self.sleep, self.decodes) = (patience, sleep, decodes)
    }

    convenience init(_ pipeline: ImagePipeline) {
        let (coders, isolation) = (pipeline.configuration.coders, pipeline.configuration.isolation)
        self.init {
            guard let image = try? coders.decode(HealthCheck.pixel, options: DecodeOptions(isolation: isolation)) else {
                return false
            }
            return image.size == PixelSize(1, 1)
        }
    }

    /// Whether the server is to stop, and takes no new work.
    var isStopping: Bool { stops.load(ordering: .relaxed) }

    func stop() {
        stops.store(true, ordering: .relaxed)
    }

    /// Whether pictures can be decoded, within the patience.
    func isHealthy() async -> Bool {
        await withCheckedContinuation { caller in
            let (known, id, begins) = state.withLockedValue { state -> (Bool?, Int, Bool) in
                if let last = state.last, ContinuousClock.now - last.time < .seconds(1) {
                    return (last.isHealthy, 0, false)
                }
                state.lastCaller += 1
                state.callers[state.lastCaller] = Caller(continuation: caller)
                defer { state.isLooking = true }
                return (nil, state.lastCaller, !state.isLooking)
            }
            if let known { return caller.resume(returning: known) }
            if begins { Thread.detachNewThread { [self] in look() } }
            startTimer(of: id)
        }
    }

    /// Ends a caller's wait after the patience, and itself with the answer.
    private func startTimer(of id: Int) {
        let timer = Task { [self] in
            guard (try? await sleep(patience)) != nil else { return }
            state.withLockedValue { $0.callers.removeValue(forKey: id) }?.continuation.resume(returning: false)
        }
        let isWaiting = state.withLockedValue { state in
            state.callers[id]?.timer = timer
            return state.callers[id] != nil
        }
        // The answer was there before the timer.
        if !isWaiting { timer.cancel() }
    }

    private func look() {
        let isHealthy = decodes()
        let callers = state.withLockedValue { state in
            defer { state.callers = [:] }
            state.isLooking = false
            state.last = (.now, isHealthy)
            return Array(state.callers.values)
        }
        for caller in callers {
            caller.timer?.cancel()
            caller.continuation.resume(returning: isHealthy)
        }
    }

    /// A GIF of one black pixel.
    private static let pixel = Data([
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x2c, 0, 0, 0, 0, 1, 0,
        1,
        0, 0, 2, 2, 0x44, 1, 0, 0x3b,
    ])
}
