import Foundation

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
