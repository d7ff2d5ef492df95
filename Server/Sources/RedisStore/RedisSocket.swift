import Foundation
import Glibc

/// The sockets of connections. They are this module's and not hiredis', since hiredis waits for names to be resolved, and ends
/// the program by SIGPIPE if a server has gone.
enum RedisSocket {
    /// Opens a connection. Blocks until it is there, and for as long as the resolution of a name takes.
    ///
    /// - Parameter deadline: the time at which attempts to connect end.
    /// - Returns: a descriptor that never blocks.
    static func connect(
        to address: RedisStore.Configuration.Address, by deadline: ContinuousClock.Instant
    ) throws(RedisStoreError) -> Int32 {
        switch address {
        case .unixSocket(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: name.sun_path)
            guard path.utf8.count < room, !path.utf8.contains(0) else {
                throw .unreachable(path, reason: "the path is too long for a socket")
            }
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            return try withUnsafeBytes(of: &name) { (bytes) throws(RedisStoreError) in
                let result = connect(AF_UNIX, bytes, by: deadline)
                return try unwrap(result, address)
            }
        case .host(let host, let port):
            return try connect(host, port, address, by: deadline)
        }
    }

    private static func connect(
        _ host: String, _ port: Int, _ address: RedisStore.Configuration.Address, by deadline: ContinuousClock.Instant
    ) throws(RedisStoreError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else {
            throw .unreachable("\(address)", reason: String(cString: gai_strerror(status)))
        }
        var result = Result<Int32, SocketError>.failure(SocketError(code: EADDRNOTAVAIL))
        var next = list
        while let info = next?.pointee {
            next = info.ai_next
            let bytes = UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen))
            result = connect(info.ai_family, bytes, by: deadline)
            if case .success = result { break }
        }
        return try unwrap(result, address)
    }

    /// The number of an error of the system.
    private struct SocketError: Error {
        let code: Int32
    }

    private static func unwrap(
        _ result: Result<Int32, SocketError>, _ address: RedisStore.Configuration.Address
    ) throws(RedisStoreError) -> Int32 {
        switch result {
        case .success(let descriptor): return descriptor
        case .failure(let error): throw .unreachable("\(address)", reason: String(cString: strerror(error.code)))
        }
    }

    private static func connect(
        _ family: Int32, _ address: UnsafeRawBufferPointer, by deadline: ContinuousClock.Instant
    ) -> Result<Int32, SocketError> {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { return .failure(SocketError(code: errno)) }
        if family != AF_UNIX {
            set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
            set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
            set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 15)
            set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5)
            set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        }
        var status: Int32 = -1
        if let name = address.assumingMemoryBound(to: sockaddr.self).baseAddress {
            status = Glibc.connect(descriptor, name, socklen_t(address.count))
        }
        var code = status == 0 ? 0 : errno
        if code == EINPROGRESS { code = finish(descriptor, by: deadline) }
        if code == 0 { return .success(descriptor) }
        close(descriptor)
        return .failure(SocketError(code: code))
    }

    /// Waits for a connection; returns the error, or zero.
    private static func finish(_ descriptor: Int32, by deadline: ContinuousClock.Instant) -> Int32 {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        var status: Int32 = -1
        repeat {
            status = poll(&waiting, 1, Int32(clamping: (deadline - .now).milliseconds(atLeast: 0)))
        } while status < 0 && errno == EINTR
        guard status > 0 else { return ETIMEDOUT }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The result of sending or receiving.
    enum Transfer {
        case moved(Int)
        case wouldBlock
        case ended(Int32)
    }

    /// Receives what is there.
    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        return count == 0 ? .ended(ECONNRESET) : transfer(count)
    }

    /// Sends as much of some parts as there is room for.
    static func send(_ descriptor: Int32, _ parts: [UnsafeRawBufferPointer]) -> Transfer {
        var vectors = parts.map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
        return vectors.withUnsafeMutableBufferPointer { vectors in
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = vectors.count
            return transfer(sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)))
        }
    }

    private static func transfer(_ count: Int) -> Transfer {
        if count >= 0 { return .moved(count) }
        return errno == EAGAIN || errno == EINTR ? .wouldBlock : .ended(errno)
    }
}
