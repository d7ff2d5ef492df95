import Glibc
import HalcyonSystem

/// The process's own terminal, `/dev/tty`, with its settings.
///
/// In quiet mode it echoes nothing and gives each byte at once; the keys that send signals keep working.
final class TerminalDevice: TerminalPort, Sendable {
    private let file: Int32
    /// The settings from before quiet mode; nil outside of it.
    private let saved = Lock<termios?>(nil)

    /// Opens the terminal; nil if there is none, or if the process is in the background, where changed settings stop it.
    init?() {
        let file = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        guard tcgetpgrp(file) == getpgrp() else {
            close(file)
            return nil
        }
        self.file = file
    }

    deinit {
        restore()
        close(file)
    }

    /// Begins quiet mode.
    ///
    /// - Returns: Whether the terminal has taken the settings.
    @discardableResult
    func beginQuiet() -> Bool {
        saved.withLock { saved in
            if saved != nil { return true }
            var settings = termios()
            guard tcgetattr(file, &settings) == 0 else { return false }
            let former = settings
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // VMIN and VTIME: a read returns with the first byte.
            (settings.c_cc.6, settings.c_cc.5) = (1, 0)
            guard tcsetattr(file, TCSANOW, &settings) == 0 else { return false }
            saved = former
            return true
        }
    }

    /// Ends quiet mode, if it has begun, and discards unread input: a late answer would look like typed text.
    func restore() {
        saved.withLock { saved in
            guard var settings = saved else { return }
            // Not `TCSAFLUSH`, which waits for the output of a terminal that may be stopped.
            tcflush(file, TCIFLUSH)
            tcsetattr(file, TCSANOW, &settings)
            saved = nil
        }
    }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func receive(within duration: Duration) -> [UInt8]? {
        var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(min(max(duration.milliseconds.rounded(.up), 0), 10_000))
        let ready = poll(&waiting, 1, milliseconds)
        if ready == 0 || (ready < 0 && errno == EINTR) { return [] }
        guard ready > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { return [] }
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }
}
