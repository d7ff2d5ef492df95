import Dispatch
import Foundation
import Glibc

@testable import RedisServing
@testable import RedisStore

/// A server that answers as a test says, at a socket in a temporary folder.
final class ScriptedServer: Sendable {
    /// The behaviour of one connection: it gets the descriptor, and closes nothing.
    typealias Script = @Sendable (Int32) -> Void

    let folder: URL
    private let descriptor: Int32

    init(_ script: @escaping Script) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fake-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        let status = withUnsafeBytes(of: &name) {
            bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        guard status == 0, listen(descriptor, 64) == 0 else { throw RedisServer.NotStarted() }
        Thread.detachNewThread {
            // Closed by the one thread that accepts, which would take the clients of the next server with this number otherwise.
            defer { close(descriptor) }
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread {
                    script(client)
                    close(client)
                }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(at: folder)
    }

    private var socketPath: String { folder.appending(path: "s").path }

    var configuration: RedisStore.Configuration { RedisStore.Configuration(address: .unixSocket(socketPath)) }

    /// A script that answers each packet with these bytes, and the packet with them, until the client leaves.
    static func answering(_ answer: @escaping @Sendable (_ packet: String) -> String) -> Script {
        { client in
            while let packet = receive(client) {
                guard send(client, answer(packet)) else { return }
            }
        }
    }

    /// A script that passes everything on to another server and back.
    ///
    /// - Parameter forward: gets each packet of the client, and sends it by calling the other argument, whenever it likes: the
    ///   client may have left by then.
    static func proxy(
        to path: String, forward: @escaping @Sendable (_ packet: String, _ send: () -> Void) -> Void
    ) -> Script {
        { client in
            let deadline = ContinuousClock.now + .seconds(20)
            guard let upstream = try? RedisSocket.connect(to: .unixSocket(path), by: deadline) else { return }
            _ = fcntl(upstream, F_SETFL, 0)
            let isOver = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                while let answer = receiveBytes(upstream), send(client, bytes: answer) {}
                Glibc.shutdown(client, Int32(SHUT_RDWR))
                isOver.signal()
            }
            while let packet = receiveBytes(client) {
                forward(String(decoding: packet, as: UTF8.self)) { _ = send(upstream, bytes: packet) }
            }
            Glibc.shutdown(upstream, Int32(SHUT_RDWR))
            isOver.wait()
            close(upstream)
        }
    }

    /// Waits for a packet; nil if the client has left.
    static func receive(_ client: Int32) -> String? {
        receiveBytes(client).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func receiveBytes(_ client: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(client, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    @discardableResult
    static func send(_ client: Int32, _ text: String) -> Bool { send(client, bytes: Array(text.utf8)) }

    @discardableResult
    static func send(_ client: Int32, bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
