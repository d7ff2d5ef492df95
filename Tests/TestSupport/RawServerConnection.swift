import Foundation
import Glibc

/// One connection of a `RawServer`, in its script's hands.
public final class RawServerConnection {
    /// For a library that reads and writes by itself. The connection closes it.
    public let socket: Int32
    private let log: (String) -> Void
    private let willClose: () -> Void
    private var isClosed = false
    private var unread: [UInt8] = []

    init(_ socket: Int32, log: @escaping (String) -> Void, willClose: @escaping () -> Void) {
        self.willClose = willClose
        self.socket = socket
        self.log = log
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Waits for a request and returns its head; nil when the client has closed.
    @discardableResult
    public func readRequest() -> String? {
        readRequestBytes().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Waits for a request and returns its head byte for byte; nil when the client has closed.
    public func readRequestBytes() -> Data? {
        let end: [UInt8] = [13, 10, 13, 10]
        // The number of a closed socket may be another connection's by now, whose request would be taken from it.
        guard !isClosed else { return nil }
        while true {
            if let range = unread.firstRange(of: end) {
                let head = Data(unread[..<range.lowerBound])
                unread.removeSubrange(..<range.upperBound)
                log(String(decoding: head, as: UTF8.self))
                return head
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            unread.append(contentsOf: buffer[..<count])
        }
    }

    /// The path of a request's head, with its query.
    public static func path(of head: String) -> String {
        let words = head.split(separator: " ")
        return words.count > 1 ? String(words[1]) : ""
    }

    public func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    /// Sends everything; throws when the client has closed.
    public func send(_ data: Data) throws {
        try data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                let count = Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                guard count > 0 else { throw RawSocket.Failure(call: "send", number: errno) }
                sent += count
            }
        }
    }

    /// A whole answer with its length.
    public func answer(_ body: Data, status: String = "200 OK", fields: String = "") throws {
        try send("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\(fields)\r\n")
        try send(body)
    }

    /// Sends until the client has taken nothing for so long, or `total` bytes are out.
    ///
    /// - Returns: bytes sent.
    public func sendUntilHeldUp(total: Int, patience: Int) -> Int {
        var time = timeval(tv_sec: patience / 1000, tv_usec: patience % 1000 * 1000)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let piece = [UInt8](repeating: 7, count: 16 * 1024)
        var sent = 0
        while sent < total {
            let wanted = min(piece.count, total - sent)
            let count = Glibc.send(socket, piece, wanted, Int32(MSG_NOSIGNAL))
            sent += max(0, count)
            // A part of it was taken before the patience ended.
            guard count == wanted else { break }
        }
        time = timeval()
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        return sent
    }

    /// Blocks until the client has closed its side, or reset it.
    public func waitForClose() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while recv(socket, &buffer, buffer.count, 0) > 0 {}
    }

    /// Whether the client closes its side, or resets it, within some milliseconds; what it sends is dropped.
    public func isClosed(within patience: Int) -> Bool {
        var time = timeval(tv_sec: patience / 1000, tv_usec: patience % 1000 * 1000)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &buffer, buffer.count, 0)
        let hasNone = count < 0 && errno == EAGAIN
        time = timeval()
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        return count <= 0 && !hasNone
    }

    /// Closes with a reset, as a crashed server's machine does.
    public func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    public func close() {
        guard !isClosed else { return }
        isClosed = true
        willClose()
        Glibc.close(socket)
    }
}
