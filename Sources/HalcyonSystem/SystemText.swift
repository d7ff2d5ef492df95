import Glibc

/// Small files of /proc and /sys.
package enum SystemText {
    /// A file's text up to a limit of bytes; nil when it cannot be read.
    ///
    /// By hand: Foundation's reader leaks its buffer where a file gives no length, as those of /proc do.
    package static func read(_ path: String, limit: Int = 1 << 20) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        var filled = 0
        while filled < limit {
            if filled == bytes.count { bytes.append(contentsOf: [UInt8](repeating: 0, count: bytes.count)) }
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(file, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            filled += count
        }
        return String(decoding: bytes[..<filled], as: UTF8.self)
    }

    /// A file that holds one number.
    static func number(_ path: String) -> Int? {
        read(path, limit: 64).flatMap { number(in: $0) }
    }

    static func number(in text: String) -> Int? {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.count == 1 ? Int(words[0]) : nil
    }
}
