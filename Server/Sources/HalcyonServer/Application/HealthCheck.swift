import Foundation
import Halcyon
import Synchronization

/// The answer to whether the server can work: it decodes a picture of one pixel where files of strangers are decoded, at most once a
/// second.
///
/// The decode has a thread of its own, one at a time: a pool whose threads all wait for slow files would say nothing on the server.
final class HealthCheck: Sendable {
    private struct State {
        var last: (time: ContinuousClock.Instant, isHealthy: Bool)?
        /// The callers that wait for the decode that runs; empty if none does.
        var callers: [CheckedContinuation<Bool, Never>] = []
    }

    private let coders: CoderRegistry
    private let isolation: DecodeIsolation
    private let state = Mutex(State())
    private let stops = Atomic(false)

    init(_ pipeline: ImagePipeline) {
        (coders, isolation) = (pipeline.configuration.coders, pipeline.configuration.isolation)
    }

    /// Whether the server is to stop, and takes no new work.
    var isStopping: Bool { stops.load(ordering: .relaxed) }

    func stop() {
        stops.store(true, ordering: .relaxed)
    }

    /// Whether pictures can be decoded.
    func isHealthy() async -> Bool {
        await withCheckedContinuation { caller in
            let (known, begins) = state.withLock { state -> (Bool?, Bool) in
                if let last = state.last, ContinuousClock.now - last.time < .seconds(1) {
                    return (last.isHealthy, false)
                }
                state.callers.append(caller)
                return (nil, state.callers.count == 1)
            }
            if let known { caller.resume(returning: known) }
            if begins { Thread.detachNewThread { [self] in look() } }
        }
    }

    private func look() {
        let isHealthy = decodes()
        let callers = state.withLock { state in
            defer { state.callers = [] }
            state.last = (.now, isHealthy)
            return state.callers
        }
        for caller in callers { caller.resume(returning: isHealthy) }
    }

    private func decodes() -> Bool {
        let options = DecodeOptions(isolation: isolation)
        guard let image = try? coders.decode(Self.pixel, options: options) else { return false }
        return image.size == PixelSize(1, 1)
    }

    /// A GIF of one black pixel.
    private static let pixel = Data([
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x2c, 0, 0, 0, 0, 1, 0,
        1,
        0, 0, 2, 2, 0x44, 1, 0, 0x3b,
    ])
}
