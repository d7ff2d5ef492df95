import Foundation

/// A server of sources that answers when a test says so.
final class OriginSocket: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw LoopbackConnection.Failure(description: "no port") }
        port = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    /// A transfer that was asked for.
    final class Transfer: Sendable {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Sends a JPEG as the whole answer.
        func answer(_ body: Data) throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: \(body.count)\r\n\r\n"
            var rest = Data(head.utf8) + body
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { throw LoopbackConnection.Failure(description: "cannot send") }
                rest = rest.dropFirst(count)
            }
        }

        /// Waits until the other side has closed the connection.
        func isLeft() throws -> Bool {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&event, 1, 10_000) > 0 else { return false }
                if recv(descriptor, &buffer, buffer.count, 0) <= 0 { return true }
            }
        }
    }

    /// Waits for a transfer, whose head stays unread.
    func accept() throws -> Transfer {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, 60_000) > 0 else { throw LoopbackConnection.Failure(description: "nobody asks") }
        let connection = Glibc.accept(descriptor, nil, nil)
        guard connection >= 0 else { throw LoopbackConnection.Failure(description: "nobody asks") }
        return Transfer(connection)
    }
}
