/// An answer: its head is there, its body arrives as it is read.
public struct TransportResponse: Sendable {
    public var head: HTTPResponseHead
    /// Read it once. Dropping it before its end cancels the transfer.
    public var body: TransportBody

    public init(head: HTTPResponseHead, body: TransportBody) {
        self.head = head
        self.body = body
    }
}
