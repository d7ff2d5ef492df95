import Foundation
import HalcyonSystem

/// A decoder that can keep the headers of a file, so that all questions about it, up to that for its pixels, read them once.
package protocol OpeningImageDecoder: ImageDecoder {
    /// Returns a decoder that keeps the headers of this data from the first question on. It answers for other data as well.
    func opening(_ data: Data) -> Self
}

extension ImageDecoder {
    /// Returns a decoder that keeps the headers of this data if it can, otherwise itself.
    func opened(for data: Data) -> any ImageDecoder { (self as? any OpeningImageDecoder)?.opening(data) ?? self }
}

/// The headers of a file, which are read when somebody first asks for them. They live as long as this, and so do the bytes.
package final class OpenedFile<Headers: Sendable>: Sendable {
    private let data: Data
    private let read: @Sendable (Data) throws -> Headers
    private let known = Lock<Headers?>(nil)

    package init(_ data: Data, read: @escaping @Sendable (Data) throws -> Headers) {
        (self.data, self.read) = (data, read)
    }

    /// Returns the headers of data, which is this file as a rule, and otherwise read anew.
    ///
    /// - Throws: the errors of the reading, after which the next question reads again.
    package func headers(of other: Data) throws -> Headers {
        guard isOver(other) else { return try read(other) }
        if let headers = known.withLock({ $0 }) { return headers }
        // Two threads may read the same headers, which only duplicates the work.
        let headers = try read(data)
        known.withLock { $0 = headers }
        return headers
    }

    /// Whether data is the same memory, which nobody changes while it is kept here. A few bytes have no memory of their own.
    private func isOver(_ other: Data) -> Bool {
        guard data.count == other.count, data.count > 32 else { return false }
        return data.withUnsafeBytes { own in other.withUnsafeBytes { own.baseAddress == $0.baseAddress } }
    }
}
