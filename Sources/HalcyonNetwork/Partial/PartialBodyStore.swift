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
