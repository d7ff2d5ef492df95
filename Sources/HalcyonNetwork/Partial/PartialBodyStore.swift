/// Where a downloader writes bodies that are too large for memory, and finds those that broke off.
///
/// The calls but `mayHold` may block, and are made on threads that may.
public protocol PartialBodyStore: Sendable {
    /// A new body without bytes.
    ///
    /// - Parameters:
    ///   - key: what it is found by if it is kept; nil for one that nobody is to find.
    ///   - record: what goes with it; nil together with the key.
    /// - Throws: any error where there is no room; the body stays in memory then.
    func make(for key: PartialBodyKey?, _ record: PartialBodyRecord?) throws -> any PartialBody

    /// False where there is certainly nothing kept for a key. Asked for every request: it must not block.
    func mayHold(_ key: PartialBodyKey) -> Bool

    /// What is kept for a key, from now on the caller's alone; nil where there is nothing, or somebody else has it.
    func take(_ key: PartialBodyKey) -> KeptBody?
}
