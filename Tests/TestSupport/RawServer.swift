import Foundation
import Glibc
import HalcyonSystem

/// A server on 127.0.0.1 that does to a client what a proper server never would.
///
/// Its script runs once for each connection, on a thread of that connection with blocking sockets, and writes bytes as
/// it likes. When the script returns, the connection is closed.
public final class RawServer: Sendable {
    public typealias Script = @Sendable (RawServerConnection) throws -> Void

    private struct State {
        var connections = 0
        var requests: [String] = []
        var open: Set<Int32> = []
        var isStopped = false
    }

    public let port: Int
    private let listener: Int32
    private let state = Lock(State())

    /// Listens on a port of the system's choice and serves at once.
    public init(_ script: @escaping Script) throws {
        (listener, port) = try RawSocket.listen()
        let listener = self.listener
        let state = self.state
        WorkerThread.start(name: "raw-accept") {
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0, errno == EINTR { continue }
                guard socket >= 0 else { return }
                let isStopped = state.withLock { state in
                    state.connections += 1
                    state.open.insert(socket)
                    return state.isStopped
                }
                guard !isStopped else {
                    close(socket)
                    return
                }
                WorkerThread.start(name: "raw-serve") {
                    let connection = RawServerConnection(
                        socket, log: { head in state.withLock { $0.requests.append(head) } },
                        willClose: { state.withLock { _ = $0.open.remove(socket) } })
                    try? script(connection)
                    connection.close()
                }
            }
        }
    }

    deinit { stop() }

    public func url(_ path: String = "/") -> URL {
        URL(web: "http://127.0.0.1:\(port)\(path)")
    }

    /// Connections that were made.
    public var connectionCount: Int { state.withLock { $0.connections } }
    /// The heads of the requests, as they came.
    public var requests: [String] { state.withLock { $0.requests } }

    /// Closes the port and every connection; scripts that read or write fail then.
    public func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            guard !state.isStopped else { return false }
            // Under the lock: a script that ends closes its socket, whose number may be another's right after.
            for socket in state.open { shutdown(socket, Int32(SHUT_RDWR)) }
            return true
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// A port on 127.0.0.1 where nobody listens.
    public static func refusedPort() throws -> Int {
        let (socket, port) = try RawSocket.listen()
        Glibc.close(socket)
        return port
    }
}
