import Foundation
import HalcyonSystem

/// The part of a body that has arrived, readable while the rest is being transferred.
///
/// It only grows. When a failed attempt is retried, the next one uses a new object.
package final class ReceivedBody: Sendable, Hashable {
    private let chunks = Lock<[Data]>([])

    package init() {}

    /// Returns the chunks from an index on, in order and without a copy.
    package func chunks(from first: Int = 0) -> ArraySlice<Data> {
        chunks.withLock { $0.dropFirst(first) }
    }

    /// The number of chunks so far.
    var count: Int { chunks.withLock { $0.count } }

    /// Replaces the last chunks by the same bytes at another address. The number of chunks stays the same, as readers use it.
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

    /// Returns a range of bytes without a copy, with indices from 0 as all chunks have.
    private static func piece(of bytes: Data, _ range: Range<Int>) -> Data {
        // Neither a chunk nor its owner is ever written to, so the address is valid for as long as the owner is referenced.
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

    /// Returns whether both are the same object, not whether their bytes are equal.
    package static func == (left: ReceivedBody, right: ReceivedBody) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
