import Foundation
import HalcyonNetwork
import HalcyonSystem

/// A store of partial bodies in memory, for tests of a downloader.
public final class MemoryPartialBodyStore: PartialBodyStore {
    private struct Kept {
        let record: PartialBodyRecord
        let bytes: Data
    }

    private let kept = Lock<[PartialBodyKey: Kept]>([:])
    private let made = Lock(0)

    /// Creates an empty store.
    public init() {}

    /// The number of bodies that were made.
    public var makeCount: Int { made.withLock { $0 } }
    /// The number of bytes of each body that is kept, in no particular order.
    public var keptCounts: [Int] { kept.withLock { $0.values.map(\.bytes.count) } }

    public func make(for key: PartialBodyKey?, _ record: PartialBodyRecord?) throws -> any PartialBody {
        made.withLock { $0 += 1 }
        return body(key, record, Data())
    }

    public func mayHold(_ key: PartialBodyKey) -> Bool { kept.withLock { $0[key] != nil } }

    public func take(_ key: PartialBodyKey) -> KeptBody? {
        guard let found = kept.withLock({ $0.removeValue(forKey: key) }) else { return nil }
        return KeptBody(record: found.record, body: body(key, found.record, found.bytes))
    }

    private func body(_ key: PartialBodyKey?, _ record: PartialBodyRecord?, _ bytes: Data) -> Body {
        Body(bytes) { [kept] bytes in
            guard let key, let record else { return }
            kept.withLock { $0[key] = Kept(record: record, bytes: bytes) }
        }
    }

    private final class Body: PartialBody {
        private let data: Lock<Data>
        private let onKeep: @Sendable (Data) -> Void

        init(_ bytes: Data, onKeep: @escaping @Sendable (Data) -> Void) {
            data = Lock(bytes)
            self.onKeep = onKeep
        }

        var count: Int { data.withLock { $0.count } }

        func append(_ bytes: Data) throws { data.withLock { $0.append(bytes) } }

        func bytes(_ range: Range<Int>) throws -> Data { data.withLock { Data($0[range]) } }

        func finish() throws -> Data { data.withLock { $0 } }

        func keep() { onKeep(data.withLock { $0 }) }

        func discard() {}
    }
}
