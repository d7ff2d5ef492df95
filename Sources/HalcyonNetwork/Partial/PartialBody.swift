import Foundation

/// A body that is written as it arrives, outside the process's own memory where that can be.
///
/// All calls may block; one task at a time makes them, on a thread that may. An object that is let go without `discard`
/// or `finish` is kept, as by `keep`.
public protocol PartialBody: AnyObject, Sendable {
    /// Bytes that are in it.
    var count: Int { get }

    /// Writes on at the end.
    ///
    /// - Throws: any error; `count` is what it was then, and the bytes up to it can still be read.
    func append(_ bytes: Data) throws

    /// Some of its bytes, within `count`; where it can be, not a copy.
    func bytes(_ range: Range<Int>) throws -> Data

    /// Its bytes, once all have come; where it can be, not a copy. Nobody finds them any more.
    func finish() throws -> Data

    /// Lets it go, to be found by its key later where it was made with one.
    func keep()

    /// Removes it.
    func discard()
}
