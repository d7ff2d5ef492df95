import Foundation
import HalcyonNetwork
import HalcyonSystem

/// A source's bytes on their way through the graph.
///
/// A class, so that decodes of the same bytes find each other by identity, and so that a fetch can be joined for as long
/// as anybody still works with what it brought.
final class FetchedData: Sendable {
    let data: Data
    let origin: ImageOrigin
    /// What HTTP said of them; nil for a file or data.
    let http: HTTPCacheMetadata?
    let transfer: TransportMetrics?
    private let stored: Lock<Bool>

    init(data: Data, origin: ImageOrigin, http: HTTPCacheMetadata? = nil, transfer: TransportMetrics? = nil) {
        self.data = data
        self.origin = origin
        self.http = http
        self.transfer = transfer
        // What came from a cache or a file is not written to the disk again.
        stored = Lock(origin != .network)
    }

    /// True for the first one who asks: bytes are stored once they have proved to be an image, and then only once.
    func claimStore() -> Bool {
        stored.withLock { stored in
            defer { stored = true }
            return !stored
        }
    }

    /// When memory must stop answering for these bytes; nil where HTTP sets no end.
    var freshUntil: Date? {
        guard let http else { return nil }
        return http.noCache || http.variesOnEverything ? .distantPast : http.freshUntil
    }
}
