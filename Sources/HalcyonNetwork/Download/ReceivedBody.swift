import Foundation
import HalcyonSystem

/// What has arrived of a body, readable while the rest is on its way.
///
/// It only grows. A failed attempt that is retried begins another one.
public final class ReceivedBody: Sendable, Hashable {
    private let chunks = Lock<[Data]>([])

    package init() {}

    /// The chunks from a number on, in order; nothing is copied.
    public func chunks(from first: Int = 0) -> ArraySlice<Data> {
        chunks.withLock { $0.dropFirst(first) }
    }

    package func append(_ chunk: Data) {
        chunks.withLock { $0.append(chunk) }
    }

    /// The same body, not the same bytes.
    public static func == (left: ReceivedBody, right: ReceivedBody) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
