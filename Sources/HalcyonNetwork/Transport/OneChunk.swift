import Foundation
import HalcyonSystem

/// A chunk of bytes that can be taken once.
final class OneChunk: Sendable {
    private let data: Lock<Data?>

    init(_ data: Data) {
        self.data = Lock(data.isEmpty ? nil : data)
    }

    func take() -> Data? {
        data.withLock { data in
            defer { data = nil }
            return data
        }
    }
}
