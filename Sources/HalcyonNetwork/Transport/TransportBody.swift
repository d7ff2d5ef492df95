import Foundation

/// An answer's body: chunks of bytes that are fetched as the reader asks for them.
///
/// It is read once, by one reader. Ending the iteration early, or dropping body and iterator, cancels the transfer.
public struct TransportBody: AsyncSequence, Sendable {
    public typealias Element = Data

    private let source: Source

    /// A body for a transport of one's own.
    ///
    /// - Parameters:
    ///   - next: waits for the next chunk, nil at the end. Called by one reader at a time.
    ///   - cancel: ends the transfer; called once or more, also after the end, from any thread.
    ///   - metrics: the transfer's figures, nil before its end.
    public init(
        next: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void,
        metrics: @escaping @Sendable () -> TransportMetrics? = { nil }
    ) {
        source = Source(next: next, cancel: cancel, metrics: metrics)
    }

    /// A body that is there already.
    public init(_ data: Data) {
        let rest = OneChunk(data)
        self.init(next: { rest.take() }, cancel: {})
    }

    /// What the transfer took; nil until the body has been read to its end.
    public var metrics: TransportMetrics? { source.metrics() }

    /// Ends the transfer; a reader that waits gets `CancellationError`.
    public func cancel() {
        source.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(source: source, reader: Reader(cancel: source.cancel))
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source
        /// Goes with the iterator, before a body that somebody still holds.
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
