import Dispatch
import HalcyonSystem

/// The place where the callback of `ImagePipeline.load` runs.
public enum CallbackQueue: Sendable {
    /// On the main queue, always asynchronously.
    case mainAsync
    /// On the main queue; at once if the load ends there, as it does for a memory hit that is requested on it.
    case mainOrInline
    /// At once, on the thread on which the load ends. Usually that is the one thread that does the bookkeeping of all
    /// loads, so the callback must not block.
    case inline
    /// On a queue, always asynchronously.
    case queue(DispatchQueue)

    func run(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .mainAsync: DispatchQueue.main.async(execute: body)
        case .mainOrInline: if MainQueue.isCurrent { body() } else { DispatchQueue.main.async(execute: body) }
        case .inline: body()
        case .queue(let queue): queue.async(execute: body)
        }
    }
}

/// A test for the main queue. It does not compare threads: on Linux a program without a run loop drains its main queue,
/// and with it the main actor, on any thread.
package enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
}

/// A queue of work for the main actor, which does it in order and all at once: a hundred loads that end together wake
/// the main actor once.
package final class MainInbox: Sendable {
    package static let shared = MainInbox()

    private let waiting = Lock<[@MainActor @Sendable () -> Void]>([])

    package func add(_ work: @escaping @MainActor @Sendable () -> Void) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(work)
            return waiting.count == 1
        }
        if isFirst { Task { @MainActor in self.drain() } }
    }

    @MainActor private func drain() {
        let work = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in work { work() }
    }
}
