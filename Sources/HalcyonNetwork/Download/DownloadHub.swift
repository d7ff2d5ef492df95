import Foundation
import HalcyonSystem

/// The transfers that are under way, and their subscribers. Identical downloads share a transfer.
///
/// All of its data is in one locked state; the code that resumes a subscriber's continuation removes the subscriber
/// from it first, so that it is resumed once.
final class DownloadHub: Sendable {
    private struct Subscriber {
        let progress: DeliveryQueue<DownloadProgress>?
        let continuation: CheckedContinuation<DownloadResult, any Error>

        func end(with result: Result<DownloadResult, any Error>) {
            progress?.close()
            continuation.resume(with: result)
        }
    }

    /// The caller of a download that has a ticket.
    final class Caller: WorkTicketListener {
        private let id: Int
        private let hub: DownloadHub

        init(_ id: Int, of hub: DownloadHub) {
            (self.id, self.hub) = (id, hub)
        }

        func cancelled() {
            hub.cancel(id)
        }

        func priorityChanged(of ticket: WorkTicket) {
            hub.setPriority(id) { ticket.priority }
        }
    }

    private struct LatestProgress: EventHistory {
        private var latest: DownloadProgress?

        mutating func add(_ progress: DownloadProgress) { latest = progress }

        var events: [DownloadProgress] { latest.map { [$0] } ?? [] }
    }

    private typealias Transfers = SharedWork<TransferKey, Subscriber, Task<Void, Never>, LatestProgress>

    private let transfers = Lock(Transfers())
    /// Called under the lock, so that the slots learn of changes in their order.
    private let slots: TransferSlots

    init(slots: TransferSlots) {
        self.slots = slots
    }

    var transferCount: Int { transfers.withLock { $0.count } }
    var subscriberCount: Int { transfers.withLock { $0.subscriberCount } }

    /// Returns a new ID for a subscriber.
    func nextID() -> Int {
        transfers.withLock { $0.nextID() }
    }

    /// Joins the transfer of `key`, or launches it.
    ///
    /// - Parameters:
    ///   - isCancelled: Called under the lock: a cancellation that comes later finds the subscriber.
    ///   - priority: Called under the lock, for the same reason.
    ///   - launch: Starts the transfer with the given ID.
    func subscribe(
        _ id: Int, to key: TransferKey, progress: DeliveryQueue<DownloadProgress>?,
        continuation: CheckedContinuation<DownloadResult, any Error>,
        isCancelled: () -> Bool, priority: () -> RequestPriority, launch: (Int) -> Task<Void, Never>
    ) {
        let subscriber = Subscriber(progress: progress, continuation: continuation)
        let joined = transfers.withLock { transfers -> Transfers.Joined? in
            guard !isCancelled() else { return nil }
            let joined = transfers.join(key, as: id, subscriber, priority: priority())
            if let priority = joined.priority {
                joined.isNew
                    ? slots.register(joined.work, priority: priority) : slots.setPriority(joined.work, priority)
            }
            for latest in joined.replay { progress?.replace(with: latest) }
            return joined
        }
        guard let joined else { return continuation.resume(throwing: CancellationError()) }
        if !joined.replay.isEmpty { progress?.deliver() }
        guard joined.isNew else { return }
        let task = launch(joined.work)
        // Its subscribers may have left in the meantime.
        if !transfers.withLock({ $0.setHandle(task, of: joined.work) }) { task.cancel() }
    }

    /// Removes a subscriber with `CancellationError`; does nothing if it has already left. The transfer ends with the last one.
    func cancel(_ id: Int) {
        let left = transfers.withLock { transfers in
            let left = transfers.leave(id)
            if let left, let priority = left.priority { slots.setPriority(left.work, priority) }
            if let left, left.abandoned != nil { slots.forget(left.work) }
            return left
        }
        left?.abandoned?.handle?.cancel()
        left?.subscriber.end(with: .failure(CancellationError()))
    }

    /// Removes all subscribers of the transfers for whose key `matches` returns true, with `CancellationError`.
    func cancelAll(where matches: (TransferKey) -> Bool) {
        let ended = transfers.withLock { transfers in
            let ended = transfers.endAll(where: matches)
            for id in ended.keys { slots.forget(id) }
            return ended
        }
        for transfer in ended.values {
            transfer.handle?.cancel()
            for subscriber in transfer.subscribers { subscriber.end(with: .failure(CancellationError())) }
        }
    }

    /// Changes the priority of a subscriber.
    ///
    /// - Parameter priority: Called under the lock, so that the latest value counts.
    private func setPriority(_ id: Int, _ priority: () -> RequestPriority) {
        transfers.withLock { transfers in
            guard let changed = transfers.setPriority(priority(), of: id) else { return }
            slots.setPriority(changed.work, changed.priority)
        }
    }

    /// Reports the progress of a transfer to its subscribers.
    func report(_ progress: DownloadProgress, of transfer: Int) {
        let queues = transfers.withLock { transfers in
            let queues = transfers.record(progress, of: transfer).compactMap(\.progress)
            for queue in queues { queue.replace(with: progress) }
            return queues
        }
        for queue in queues { queue.deliver() }
    }

    /// Ends a transfer and delivers its result.
    func finish(_ transfer: Int, with result: Result<DownloadResult, any Error>) {
        let ended = transfers.withLock { transfers in
            slots.forget(transfer)
            return transfers.end(transfer)
        }
        guard let ended else { return }
        for subscriber in ended.subscribers { subscriber.end(with: result) }
    }
}
