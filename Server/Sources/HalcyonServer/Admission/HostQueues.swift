import HalcyonSystem
import NIOConcurrencyHelpers
import Synchronization

/// The bounds of the transfers with each host, before those of all of them: a host that says nothing takes a part of the places, and
/// what waits for it waits apart.
final class HostQueues: Sendable {
    private struct Host {
        let queue: CostQueue<String>
        /// The callers that have the queue; the host is forgotten with the last of them.
        var callers = 0
    }

    private let limits: CostQueueLimits
    private let time: TimeSource
    private let hosts = NIOLockedValueBox<[String: Host]>([:])
    private let refused = Atomic(0)

    /// - Parameter limits: those of one host.
    init(limits: CostQueueLimits, time: TimeSource) {
        (self.limits, self.time) = (limits, time)
    }

    /// The hosts that have callers.
    var count: Int { hosts.withLockedValue { $0.count } }

    /// The callers that were refused so far.
    var refusals: Int { refused.load(ordering: .relaxed) }

    /// Waits for a place at a host, does the work and gives the place back.
    ///
    /// - Throws: `CostQueueRefusal`; `CancellationError`; the errors of the work.
    nonisolated(nonsending) func withPlace<Value>(
        at host: String, for key: String, _ work: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let queue = hosts.withLockedValue { hosts in
            var found = hosts[host] ?? Host(queue: CostQueue(limits: limits, time: time))
            found.callers += 1
            hosts[host] = found
            return found.queue
        }
        defer {
            hosts.withLockedValue { hosts in
                hosts[host]?.callers -= 1
                if hosts[host]?.callers == 0 { hosts[host] = nil }
            }
        }
        // The refusals of the work itself are those of other queues.
        var hasPlace = false
        do {
            return try await queue.withPlace(for: key, cost: 1) {
                hasPlace = true
                return try await work()
            }
        } catch let error as CostQueueRefusal where !hasPlace {
            refused.add(1, ordering: .relaxed)
            throw error
        }
    }
}
