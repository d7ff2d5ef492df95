import Foundation
import HalcyonSystem

/// The body of a response: chunks of bytes that are fetched as the reader requests them.
///
/// It is read once, by one reader. Ending the iteration early, or releasing both body and iterator, cancels the transfer.
public struct TransportBody: AsyncSequence, Sendable {
    public typealias Element = Data

    private let source: Source

    /// Creates a body for a custom transport.
    ///
    /// - Parameters:
    ///   - next: Waits for the next chunk and returns it, or nil at the end. Called by one reader at a time.
    ///   - cancel: Ends the transfer. Called at least once, also after the end, on any thread.
    ///   - metrics: Returns the transfer's metrics, nil before its end.
    public init(
        next: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void,
        metrics: @escaping @Sendable () -> TransportMetrics? = { nil }
    ) {
        source = Source(next: next, cancel: cancel, metrics: metrics)
    }

    /// Creates a body from data.
    public init(_ data: Data) {
        let rest = OneChunk(data)
        self.init(next: { rest.take() }, cancel: {})
    }

    /// The metrics of the transfer; nil until the body has been read to its end.
    public var metrics: TransportMetrics? { source.metrics() }

    /// Ends the transfer; a waiting reader receives `CancellationError`.
    public func cancel() {
        source.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(source: source, reader: Reader(cancel: source.cancel))
    }

    /// The iterator over the chunks of a body. Releasing it before the end cancels the transfer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source
        /// Cancels the transfer when the iterator is released, even if the body is still referenced.
        fileprivate let reader: Reader

        public mutating func next() async throws -> Data? {
            let chunk = try await source.next()
            withExtendedLifetime(reader) {}
            return chunk
        }
    }

    fileprivate final class Source: Sendable {
        let next: @Sendable () async throws -> Data?
        let cancel: @Sendable () -> Void
        let metrics: @Sendable () -> TransportMetrics?

        init(
            next: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void,
            metrics: @escaping @Sendable () -> TransportMetrics?
        ) {
            self.next = next
            self.cancel = cancel
            self.metrics = metrics
        }

        deinit { cancel() }
    }

    fileprivate final class Reader: Sendable {
        let cancel: @Sendable () -> Void

        init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

        deinit { cancel() }
    }
}

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
