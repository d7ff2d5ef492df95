/// A response: the head, and a body that arrives as it is read.
public struct TransportResponse: Sendable {
    public var head: HTTPResponseHead
    /// The body, to be read once. Releasing it before its end cancels the transfer.
    public var body: TransportBody

    public init(head: HTTPResponseHead, body: TransportBody) {
        self.head = head
        self.body = body
    }
}
