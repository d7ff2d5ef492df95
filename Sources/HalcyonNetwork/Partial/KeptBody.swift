/// The stored beginning of a body, with the record of the response it came from.
public struct KeptBody: Sendable {
    public let record: PartialBodyRecord
    public let body: any PartialBody

    public init(record: PartialBodyRecord, body: any PartialBody) {
        self.record = record
        self.body = body
    }
}
