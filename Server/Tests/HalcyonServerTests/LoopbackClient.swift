import Foundation

/// An answer of HTTP/1.1 as it came.
struct HTTPAnswer: Sendable {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: Data

    subscript(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A connection to a server on the loopback, with nothing between the test and the bytes.
final class LoopbackConnection: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32

    init(port: Int, receiveBuffer: Int? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket") }
        if var size = receiveBuffer.map(Int32.init) {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // `deinit` closes it: a second time would be another's descriptor.
        guard result == 0 else { throw Failure(description: "refused") }
    }

    deinit { Glibc.close(descriptor) }

    /// Ends both directions, as a client that leaves does.
    func leave() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func send(_ text: String) throws {
        var rest = Data(text.utf8)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure(description: "cannot send") }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns some bytes; none at the end of the connection.
    func receive() throws -> Data {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == ECONNRESET { return Data() }
        guard count >= 0 else { throw Failure(description: "nothing came: \(errno)") }
        return Data(buffer.prefix(count))
    }

    /// Waits until the server has closed the connection (`POLLRDHUP`), without taking a byte.
    func waitForClose() throws {
        var event = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        guard poll(&event, 1, 60_000) > 0 else { throw Failure(description: "still open") }
    }

    /// Ends the direction to the server, as a client that has no more requests may do.
    func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads one answer, of which some bytes may have been received, and leaves the connection open for the next.
    func answer(to method: String = "GET", after first: Data = Data()) throws -> HTTPAnswer {
        var data = first
        while true {
            if let (answer, _) = try Self.answer(to: method, in: data) { return answer }
            let more = try receive()
            if more.isEmpty { throw Failure(description: "the connection ended after \(data.count) bytes") }
            data += more
        }
    }

    /// Reads the answers to requests of GET up to the end of the connection.
    func answersUntilClose() throws -> [HTTPAnswer] {
        var (data, answers) = (Data(), [HTTPAnswer]())
        while true {
            let more = try receive()
            if more.isEmpty { break }
            data += more
        }
        var rest = data[...]
        while let (answer, end) = try Self.answer(to: "GET", in: rest) {
            answers.append(answer)
            rest = rest[end...]
        }
        guard rest.isEmpty else { throw Failure(description: "an answer has ended early, or is none") }
        return answers
    }

    /// Returns the first answer in some bytes and the index of its end; nil if the bytes end before.
    private static func answer(to method: String, in data: Data) throws -> (answer: HTTPAnswer, end: Int)? {
        guard let mark = data.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: data[..<mark.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), line[colon...].dropFirst().trimmingCharacters(in: .whitespaces))
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        let end = mark.upperBound + (method == "HEAD" || status == 304 ? 0 : length)
        guard end <= data.endIndex else { return nil }
        return (HTTPAnswer(status: status, fields: fields, body: Data(data[mark.upperBound..<end])), end)
    }

    static func head(_ path: String, _ fields: [String: String] = [:], method: String = "GET") -> String {
        let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return "\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(lines)\r\n"
    }
}

/// Runs a blocking call on a thread that no task needs.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
