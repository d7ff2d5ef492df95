import Dispatch
import HalcyonSystem

/// Where the callback of `ImagePipeline.load` runs.
public enum Delivery: Sendable {
    /// On the main queue, always later.
    case mainAsync
    /// On the main queue; at once where the load ends there, as a memory hit does that is asked for on it.
    case mainOrInline
    /// On whatever thread the load ends, at once. Most often that is the one thread that keeps the books of all loads: the
    /// callback must not block.
    case inline
    /// On a queue, always later.
    case queue(DispatchQueue)

    func deliver(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .mainAsync: DispatchQueue.main.async(execute: body)
        case .mainOrInline: if MainQueue.isCurrent { body() } else { DispatchQueue.main.async(execute: body) }
        case .inline: body()
        case .queue(let queue): queue.async(execute: body)
        }
    }
}

/// Tells the main queue from others. Not by the thread: on Linux a program without a run loop drains its main queue,
/// and with it the main actor, on any thread.
private enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
}

/// Work for the main actor, done in order and in one go: a hundred loads that end together wake it once.
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
