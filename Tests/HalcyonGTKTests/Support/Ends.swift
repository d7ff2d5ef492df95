import Halcyon
import HalcyonSystem

/// How loads ended, in order.
final class Ends: Sendable {
    private let names = Lock<[String]>([])

    var callback: @MainActor (ImageTarget.End) -> Void {
        { end in
            let name =
                switch end {
                case .shown: "shown"
                case .failed: "failed"
                case .cancelled: "cancelled"
                case .superseded: "superseded"
                }
            self.names.withLock { $0.append(name) }
        }
    }

    var all: [String] { names.withLock { $0 } }
    var count: Int { all.count }
}
