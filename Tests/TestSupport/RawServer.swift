import Foundation
import Glibc
import HalcyonSystem

/// A server on 127.0.0.1 that treats a client as a correct server never would.
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
        /// The accepting thread closes its socket itself: a number that is closed elsewhere may be another server's by
        /// the time it is used again.
        var isListening = true
    }

    public let port: Int
    private let listener: Int32
    private let state = Lock(State())

    /// Listens on a port of the system's choice and serves at once.
    ///
    /// - Parameter keepsLog: whether `requests` is kept, which grows with every request.
    public init(keepsLog: Bool = true, _ script: @escaping Script) throws {
        (listener, port) = try RawSocket.bound(listening: true)
        let listener = self.listener
        let state = self.state
        WorkerThread.start(name: "raw-accept") {
            defer {
                state.withLock { state in
                    close(listener)
                    state.isListening = false
                }
            }
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0 {
                    // Without a free descriptor the caller waits in the port's queue until some connection closes.
                    let isPassing = [EINTR, ECONNABORTED, EMFILE, ENFILE].contains(errno)
                    guard isPassing, !state.withLock({ $0.isStopped }) else { return }
                    sched_yield()
                    continue
                }
                let isStopped = state.withLock { state in
                    state.connections += 1
                    state.open.insert(socket)
                    return state.isStopped
                }
                guard !isStopped else {
                    close(socket)
                    return
                }
                let hasThread = WorkerThread.start(name: "raw-serve") {
                    let connection = RawServerConnection(
                        socket, log: { head in if keepsLog { state.withLock { $0.requests.append(head) } } },
                        willClose: { state.withLock { _ = $0.open.remove(socket) } })
                    try? script(connection)
                    connection.close()
                }
                guard !hasThread else { continue }
                state.withLock { _ = $0.open.remove(socket) }
                close(socket)
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
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            // Under the lock: a script that ends closes its socket, whose number may be another's right after.
            for socket in state.open { shutdown(socket, Int32(SHUT_RDWR)) }
            if state.isListening { shutdown(listener, Int32(SHUT_RDWR)) }
        }
    }

    /// A port on 127.0.0.1 that refuses connections: it stays bound, so that no other server of the tests gets it.
    public static func refusedPort() throws -> Int {
        try RawSocket.bound(listening: false).port
    }

    /// A port on 127.0.0.1 for a program that needs a given one.
    ///
    /// - Returns: also a socket that is bound to it, to be closed once the program listens: no other process gets the port.
    public static func freePort() throws -> (socket: Int32, port: Int) {
        try RawSocket.bound(listening: false)
    }
}
