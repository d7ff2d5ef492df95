import Foundation

/// Where the callback of `ImagePipeline.load` runs.
public enum Delivery: Sendable {
    /// On the main queue, always later.
    case mainAsync
    /// On the main queue; at once where the load ends on the main thread, as a memory hit does that is asked for there.
    case mainOrInline
    /// On whatever thread the load ends, at once.
    case inline
    /// On a queue, always later.
    case queue(DispatchQueue)

    func deliver(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .mainAsync: DispatchQueue.main.async(execute: body)
        case .mainOrInline:
            if Thread.isMainThread { body() } else { DispatchQueue.main.async(execute: body) }
        case .inline: body()
        case .queue(let queue): queue.async(execute: body)
        }
    }
}
