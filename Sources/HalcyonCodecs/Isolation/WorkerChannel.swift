import CHalcyonWorker
import Foundation
import HalcyonImage

/// A program's end of the channel to a worker.
final class WorkerChannel: Sendable {
    /// The other end is closed.
    struct Closed: Error {}

    /// The longest message of a worker, in bytes.
    private static let longestMessage = 64 << 10
    /// The time between two looks at whether a result is still wanted, in milliseconds.
    private static let pause: Int32 = 5

    private let file: Int32

    /// - Parameter otherEnd: receives the worker's end, which the caller has to close.
    /// - Throws: `CodecError.isolationUnavailable`.
    init(otherEnd: inout Int32) throws {
        var ends: [Int32] = [-1, -1]
        guard halcyon_channel_create(&ends) == 0 else {
            throw CodecError.isolationUnavailable("no channel: \(String(cString: strerror(errno)))")
        }
        (file, otherEnd) = (ends[0], ends[1])
    }

    deinit {
        close(file)
    }

    /// Whether there is neither a message nor an end.
    var isSilent: Bool {
        get throws { try wait(0) == false }
    }

    /// Waits for a moment. Returns whether there is a message, or the end of the channel.
    func waitForMessage() throws -> Bool { try wait(Self.pause) }

    private func wait(_ milliseconds: Int32) throws -> Bool {
        let found = halcyon_channel_wait(file, milliseconds)
        guard found >= 0 else { throw WireError.invalid(String(cString: strerror(errno))) }
        return found > 0
    }

    /// Sends a message. Returns false if the other end is closed, or does not read.
    func send(_ bytes: [UInt8], _ files: [Int32]) -> Bool {
        halcyon_channel_send(file, bytes, bytes.count, files, Int32(files.count)) == 0
    }

    /// Receives the message that is there.
    ///
    /// - Throws: `Closed`; `WireError` for a message that is too long, or that has a descriptor.
    func receive() throws -> [UInt8] {
        var files = [Int32](repeating: -1, count: Int(HALCYON_CHANNEL_FILES))
        var count: Int32 = 0
        var found = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.longestMessage) { buffer, length in
            found = halcyon_channel_receive(file, buffer.baseAddress, buffer.count, &files, &count)
            length = max(0, found)
        }
        let error = errno
        for file in files.prefix(Int(count)) { close(file) }
        guard count == 0 else { throw WireError.invalid("a descriptor") }
        // The channel of a process that ends with a message unread is reset.
        if found == 0 || (found < 0 && error == ECONNRESET) { throw Closed() }
        guard found > 0 else { throw WireError.invalid(String(cString: strerror(error))) }
        return bytes
    }
}
