import Foundation
import HalcyonSystem

/// The subscribers of each transfer. Identical downloads share a transfer, each subscriber leaves by itself, and the
/// transfer ends when the last one leaves.
///
/// All of its data is in one locked state; the code that resumes a subscriber's continuation removes the subscriber
/// from it first, so that it is resumed once. A transfer without subscribers is removed at once, before it has noticed
/// its cancellation, so that no subscriber joins it any more.
final class DownloadHub: Sendable {
    struct Subscriber {
        var priority: RequestPriority
        let progress: ProgressRelay?
        let continuation: CheckedContinuation<DownloadResult, any Error>
    }

    /// A transfer and its subscribers; used only under the lock.
    private final class SharedDownload {
        let key: TransferKey
        private(set) var subscribers: [Int: Subscriber] = [:]
        private var priorities = PriorityTally()
        var progress: DownloadProgress?
        var progressSequence = 0
        var task: Task<Void, Never>?

        init(_ key: TransferKey, _ id: Int, _ subscriber: Subscriber) {
            self.key = key
            add(id, subscriber)
        }

        /// The highest priority of all subscribers.
        var priority: RequestPriority { priorities.highest ?? .normal }

        func add(_ id: Int, _ subscriber: Subscriber) {
            subscribers[id] = subscriber
            priorities.add(subscriber.priority)
        }

        func remove(_ id: Int) -> Subscriber? {
            guard let subscriber = subscribers.removeValue(forKey: id) else { return nil }
            priorities.remove(subscriber.priority)
            return subscriber
        }

        func setPriority(_ priority: RequestPriority, of id: Int) {
            guard var subscriber = remove(id) else { return }
            subscriber.priority = priority
            add(id, subscriber)
        }
    }

    private struct State {
        var lastID = 0
        var flights: [Int: SharedDownload] = [:]
        var current: [TransferKey: Int] = [:]
        /// The flight of each subscriber.
        var seats: [Int: Int] = [:]
    }

    private let state = Lock(State())
    private let slots: TransferSlots

    init(slots: TransferSlots) {
        self.slots = slots
    }

    var flightCount: Int { state.withLock { $0.flights.count } }
    var subscriberCount: Int { state.withLock { $0.seats.count } }

    /// Returns a new ID for a subscriber.
    func nextID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Joins the transfer of `key`, or launches it.
    ///
    /// - Parameters:
    ///   - isCancelled: Called under the lock: a cancellation that comes later finds the subscriber.
    ///   - priority: Called under the lock, for the same reason.
    ///   - launch: Starts the transfer with the given ID.
    func subscribe(
        _ id: Int, to key: TransferKey, progress: ProgressRelay?,
        continuation: CheckedContinuation<DownloadResult, any Error>,
        isCancelled: () -> Bool, priority: () -> RequestPriority, launch: (Int) -> Task<Void, Never>
    ) {
        enum Answer {
            case refused
            case seated(latest: DownloadProgress?, sequence: Int)
        }
        let answer = state.withLock { state -> Answer in
            guard !isCancelled() else { return .refused }
            let subscriber = Subscriber(priority: priority(), progress: progress, continuation: continuation)
            if let number = state.current[key], let flight = state.flights[number] {
                state.seats[id] = number
                flight.add(id, subscriber)
                updatePriority(of: number, in: state)
                return .seated(latest: flight.progress, sequence: flight.progressSequence)
            }
            state.lastID += 1
            let number = state.lastID
            slots.register(number, priority: subscriber.priority)
            state.seats[id] = number
            state.current[key] = number
            let flight = SharedDownload(key, id, subscriber)
            flight.task = launch(number)
            state.flights[number] = flight
            return .seated(latest: nil, sequence: 0)
        }
        switch answer {
        case .refused: continuation.resume(throwing: CancellationError())
        case .seated(let latest, let sequence):
            if let latest { progress?.report(latest, sequence: sequence) }
        }
    }

    /// Removes a subscriber with `CancellationError`; does nothing if it has already left.
    func cancel(_ id: Int) {
        let (subscriber, task) = state.withLock { state -> (Subscriber?, Task<Void, Never>?) in
            guard let flight = state.seats.removeValue(forKey: id) else { return (nil, nil) }
            let subscriber = state.flights[flight]?.remove(id)
            guard state.flights[flight]?.subscribers.isEmpty ?? true else {
                updatePriority(of: flight, in: state)
                return (subscriber, nil)
            }
            return (subscriber, remove(flight, from: &state)?.task)
        }
        task?.cancel()
        subscriber?.progress?.close()
        subscriber?.continuation.resume(throwing: CancellationError())
    }

    /// Removes all subscribers of the transfers for whose key `matches` returns true, with `CancellationError`.
    func cancelAll(where matches: (TransferKey) -> Bool) {
        let flights = state.withLock { state in
            state.flights.filter { matches($0.value.key) }.keys.compactMap { remove($0, from: &state) }
        }
        for flight in flights {
            flight.task?.cancel()
            resume(flight.subscribers, with: .failure(CancellationError()))
        }
    }

    /// Changes the priority of a subscriber.
    ///
    /// - Parameter priority: Called under the lock, so that the latest value counts.
    func setPriority(_ id: Int, _ priority: () -> RequestPriority) {
        state.withLock { state in
            guard let flight = state.seats[id] else { return }
            state.flights[flight]?.setPriority(priority(), of: id)
            updatePriority(of: flight, in: state)
        }
    }

    /// Reports the progress of a transfer to its subscribers. The calls come from one task, so they are in order.
    func report(_ progress: DownloadProgress, of flight: Int) {
        let (relays, sequence) = state.withLock { state -> ([ProgressRelay], Int) in
            guard let current = state.flights[flight] else { return ([], 0) }
            current.progress = progress
            current.progressSequence += 1
            return (current.subscribers.values.compactMap(\.progress), current.progressSequence)
        }
        for relay in relays { relay.report(progress, sequence: sequence) }
    }

    /// Ends a transfer and delivers its result.
    func finish(_ flight: Int, with result: Result<DownloadResult, any Error>) {
        let ended = state.withLock { remove(flight, from: &$0) }
        if let ended { resume(ended.subscribers, with: result) }
    }

    private func resume(_ subscribers: [Int: Subscriber], with result: Result<DownloadResult, any Error>) {
        for subscriber in subscribers.values {
            subscriber.progress?.close()
            subscriber.continuation.resume(with: result)
        }
    }

    private func remove(_ id: Int, from state: inout State) -> SharedDownload? {
        guard let flight = state.flights.removeValue(forKey: id) else { return nil }
        // A newer transfer of the same key may have replaced one that has no subscribers.
        if state.current[flight.key] == id { state.current[flight.key] = nil }
        for subscriber in flight.subscribers.keys { state.seats[subscriber] = nil }
        slots.forget(id)
        return flight
    }

    private func updatePriority(of flight: Int, in state: State) {
        guard let priority = state.flights[flight]?.priority else { return }
        slots.setPriority(flight, priority)
    }
}
