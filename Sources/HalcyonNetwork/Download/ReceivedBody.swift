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

    /// Chunks so far.
    var count: Int { chunks.withLock { $0.count } }

    /// Puts the same bytes, which lie elsewhere, in place of the last chunks; there are as many as before, as readers count
    /// them.
    func replace(from first: Int, with bytes: Data) {
        let former = chunks(from: first).map(\.count)
        guard former.reduce(0, +) == bytes.count else { return }
        var offset = 0
        let pieces = former.map { count -> Data in
            defer { offset += count }
            return Self.piece(of: bytes, offset..<(offset + count))
        }
        chunks.withLock { $0.replaceSubrange(first..<(first + pieces.count), with: pieces) }
    }

    /// Some of the bytes without a copy, beginning at index 0 as all chunks do.
    private static func piece(of bytes: Data, _ range: Range<Int>) -> Data {
        // Neither a chunk nor its owner is ever written to, so the address stays while the owner is held.
        bytes.withUnsafeBytes { buffer in
            guard !range.isEmpty, let start = buffer.baseAddress else { return Data() }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start + range.lowerBound), count: range.count,
                deallocator: .custom { _, _ in withExtendedLifetime(bytes) {} })
        }
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
