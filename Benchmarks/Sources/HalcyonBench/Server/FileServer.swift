import CFloors
import Foundation
import Glibc

/// A minimal HTTP server: GET on persistent connections, a thread for each, files by sendfile.
///
/// It runs in a process of its own, prints its port to standard output, and ends when its standard input ends.
struct FileServer: Sendable {
    let folder: String

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let (socket, port) = try Loopback.listen()
        print(port)
        fflush(nil)
        Thread.detachNewThread {
            while accept(on: socket) {}
        }
        var byte: UInt8 = 0
        while read(0, &byte, 1) > 0 {}
    }

    private func accept(on socket: Int32) -> Bool {
        let connection = Glibc.accept(socket, nil, nil)
        guard connection >= 0 else { return errno == EINTR || errno == ECONNABORTED }
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        Thread.detachNewThread {
            serve(connection)
            close(connection)
        }
        return true
    }

    private func serve(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 8192)
        var count = 0
        let end: [UInt8] = Array("\r\n\r\n".utf8)
        while count < buffer.count {
            let received = buffer.withUnsafeMutableBytes { bytes in
                recv(connection, bytes.baseAddress?.advanced(by: count), bytes.count - count, 0)
            }
            guard received > 0 else { return }
            count += received
            // One request at a time: no client here sends the next request before the response.
            guard buffer[..<count].suffix(4).elementsEqual(end) else { continue }
            guard answer(buffer[..<count], connection) else { return }
            count = 0
        }
    }

    private func answer(_ request: ArraySlice<UInt8>, _ connection: Int32) -> Bool {
        let words = request.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count == 3 else { return false }
        let name = String(decoding: words[1], as: UTF8.self)
        let file = name.contains("..") ? -1 : open(folder + name, O_RDONLY)
        defer { if file >= 0 { close(file) } }
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0 else {
            return send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", connection, isMoreToCome: false)
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: \(status.st_size)\r\n\r\n"
        return send(head, connection, isMoreToCome: true)
            && bench_send_file(connection, file, Int(status.st_size))
    }

    private func send(_ text: String, _ connection: Int32, isMoreToCome: Bool) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(connection, bytes, bytes.count, isMoreToCome ? Int32(MSG_MORE) : 0) == bytes.count
    }
}
