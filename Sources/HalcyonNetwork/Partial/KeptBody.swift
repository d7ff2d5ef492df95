/// The beginning of a body, and what the server said of it.
public struct KeptBody: Sendable {
    public let record: PartialBodyRecord
    public let body: any PartialBody

    public init(record: PartialBodyRecord, body: any PartialBody) {
        self.record = record
        self.body = body
    }
}
