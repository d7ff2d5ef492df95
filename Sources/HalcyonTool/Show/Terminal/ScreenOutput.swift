import Dispatch
import Glibc
import HalcyonSystem

/// The receiver of all that is drawn: the standard output, or a test's record.
protocol ScreenOutput: Sendable {
    /// Writes all of the bytes.
    ///
    /// - Throws: `FailureReport` if they cannot be written.
    func write(_ bytes: [UInt8]) throws
}

/// The standard output, which can be ended in the middle of a picture by another thread.
final class StandardScreen: ScreenOutput {
    private struct State {
        var isEnded = false
        var hidesCursor = false
    }

    /// The bytes of one write, so that an end is noticed soon.
    private static let part = 4096

    private let file: Int32
    private let state = Lock(State())
    /// Held during a write. A semaphore, since the wait for it at the end is limited.
    private let turn = DispatchSemaphore(value: 1)

    init(file: Int32 = STDOUT_FILENO) {
        self.file = file
    }

    func write(_ bytes: [UInt8]) throws {
        turn.wait()
        defer { turn.signal() }
        var rest = bytes[...]
        while !rest.isEmpty {
            guard !state.withLock({ $0.isEnded }) else { throw CancellationError() }
            let count = rest.prefix(Self.part).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw FailureReport(code: "processing", message: "standard output cannot be written: \(Self.reason)")
            }
            rest = rest.dropFirst(count)
        }
    }

    func hideCursor() throws {
        state.withLock { $0.hidesCursor = true }
        try write(ControlSequence.hideCursor)
    }

    /// Ends all writes, which throw `CancellationError` from then on, closes a sequence that was cut short, and shows the
    /// cursor again. A write that the terminal holds up is waited for at most a second.
    func end() {
        let hid = state.withLock { state in
            state.isEnded = true
            return state.hidesCursor
        }
        guard hid, turn.wait(timeout: .now() + 1) == .success else { return }
        defer { turn.signal() }
        let closing = ControlSequence.stringEnd + ControlSequence.plain + ControlSequence.showCursor + [0x0D, 0x0A]
        _ = closing.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    }

    /// Shows the cursor again, if it is hidden.
    func showCursor() throws {
        guard state.withLock({ $0.hidesCursor }) else { return }
        try write(ControlSequence.showCursor)
        state.withLock { $0.hidesCursor = false }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
