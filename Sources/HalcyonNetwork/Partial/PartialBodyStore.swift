import Foundation

/// A store for bodies that are too large for memory, and for those whose transfers broke off.
///
/// All methods but `mayHold` may block and are called on threads that may block.
public protocol PartialBodyStore: Sendable {
    /// Creates an empty body.
    ///
    /// - Parameters:
    ///   - key: The key by which the body is found if it is kept; nil for one that is never found again.
    ///   - record: The record to store with the body; nil exactly if the key is nil.
    /// - Throws: Any error if there is no room; the body stays in memory then.
    func make(for key: PartialBodyKey?, _ record: PartialBodyRecord?) throws -> any PartialBody

    /// Returns false if there is certainly no body for a key. It is called for every request and must not block.
    func mayHold(_ key: PartialBodyKey) -> Bool

    /// Removes and returns the body that is kept for a key, which then belongs to the caller alone; nil if there is
    /// none or another caller has it.
    func take(_ key: PartialBodyKey) -> KeptBody?
}

/// A body that is written as it arrives, outside of the process's own memory if possible.
///
/// All calls may block; one task at a time makes them, on a thread that may block. An object that is released without
/// `discard` or `finish` is kept, as by `keep`.
public protocol PartialBody: AnyObject, Sendable {
    /// The number of bytes written so far.
    var count: Int { get }

    /// Appends bytes.
    ///
    /// - Throws: Any error; `count` is then the same as before the call, and the bytes up to it can still be read.
    func append(_ bytes: Data) throws

    /// Returns a range of its bytes, within `count`; without a copy if possible.
    func bytes(_ range: Range<Int>) throws -> Data

    /// Returns all of its bytes once the body is complete; without a copy if possible. From then on the store no longer
    /// finds it.
    func finish() throws -> Data

    /// Closes it, so that the store finds it by its key later if it was made with one.
    func keep()

    /// Deletes it.
    func discard()
}

/// The stored beginning of a body, with the record of the response it came from.
public struct KeptBody: Sendable {
    /// The record of the response that the body came from.
    public let record: PartialBodyRecord
    /// The beginning of the body, to which further bytes can be appended.
    public let body: any PartialBody

    /// Creates a kept body from its record and its bytes.
    public init(record: PartialBodyRecord, body: any PartialBody) {
        self.record = record
        self.body = body
    }
}
