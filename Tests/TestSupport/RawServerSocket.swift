import Glibc

/// The calls that make a listening socket.
enum RawSocket {
    struct Failure: Error {
        let call: String
        let number: Int32
    }

    /// A socket on a port of 127.0.0.1 that the system chooses. Where it does not listen, a program that is given the port, and
    /// that shares addresses, may.
    static func bound(listening: Bool) throws -> (socket: Int32, port: Int) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Failure(call: "socket", number: errno) }
        var isShared: Int32 = listening ? 0 : 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                if Glibc.bind(socket, generic, length) != 0 { return Int32(-1) }
                if listening, Glibc.listen(socket, 1024) != 0 { return Int32(-1) }
                return getsockname(socket, generic, &length)
            }
        }
        guard status == 0 else {
            let number = errno
            Glibc.close(socket)
            throw Failure(call: "bind", number: number)
        }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }
}
