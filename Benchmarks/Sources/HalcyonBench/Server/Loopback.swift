import Foundation
import Glibc

/// Sockets on 127.0.0.1.
enum Loopback {
    /// Listens on a port that the system chooses.
    static func listen() throws -> (socket: Int32, port: UInt16) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.socketAddress(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard socket >= 0, isBound, Glibc.listen(socket, 512) == 0 else {
            throw BenchmarkFailure("no port to listen on: error \(errno)")
        }
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    /// Returns a port that was free a moment ago.
    static func freePort() throws -> UInt16 {
        let (socket, port) = try listen()
        close(socket)
        return port
    }

    static func address(_ port: UInt16) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else {
            throw BenchmarkFailure("port \(port) is no URL")
        }
        return url
    }

    /// Returns once a server accepts connections on a port.
    static func waitForServer(_ port: UInt16) throws {
        for _ in 0..<500 {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            var address = socketAddress(port: port)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isConnected { return }
            usleep(10_000)
        }
        throw BenchmarkFailure("the server did not start")
    }

    private static func socketAddress(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
