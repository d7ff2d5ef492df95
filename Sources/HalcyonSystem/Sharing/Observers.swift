/// Closures that are called for each event until they are removed.
package final class Observers<Event: Sendable>: Sendable {
    private struct State {
        var bodies: [Int: @Sendable (Event) -> Void] = [:]
        var lastID = 0
    }

    private let state = Lock(State())

    package init() {}

    /// The number of closures.
    package var count: Int { state.withLock { $0.bodies.count } }

    /// Adds a closure.
    ///
    /// - Returns: a closure that removes it. A call that has begun by then ends.
    package func add(_ body: @escaping @Sendable (Event) -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.lastID += 1
            state.bodies[state.lastID] = body
            return state.lastID
        }
        return { [self] in
            let body = state.withLock { $0.bodies.removeValue(forKey: id) }
            // Its captures are released outside the lock.
            withExtendedLifetime(body) {}
        }
    }

    /// Calls all closures on the caller's thread, in the order in which they were added.
    package func notify(_ event: Event) {
        let bodies = state.withLock { $0.bodies.sorted { $0.key < $1.key }.map(\.value) }
        for body in bodies { body(event) }
    }
}
