import Glibc
import NIOConcurrencyHelpers

/// The connections of a store, on one thread of their own that waits for all of them.
///
/// One thread and not one for each connection: a look-up costs two changes of thread either way, but here the commands of many
/// callers share a packet and a system call, one that gives up costs nothing, and all books of the connections have one owner.
final class ConnectionLoop: Sendable {
    /// The connections for which an exchange is.
    enum Lane { case lookups, writes }

    /// The calls by which the loop reports, on its thread; they must not block.
    struct Reports: Sendable {
        /// The server has failed. Returns whether all connections are to be closed.
        let failed: @Sendable (RedisStoreError) -> Bool
        /// A channel is subscribed to: whatever is published from now on is heard.
        let listening: @Sendable (_ channel: String) -> Void
        /// A message has been published.
        let heard: @Sendable (_ channel: String, _ message: String) -> Void
        /// No channel is subscribed to any more.
        let deaf: @Sendable () -> Void
    }

    enum Message: Sendable {
        case send(Exchange, Lane)
        case connected(Int, Result<Int32, RedisStoreError>)
        case subscribe(String)
        case unsubscribe(String)
        case disconnect
        case stop(by: ContinuousClock.Instant, done: @Sendable (Bool) -> Void)
    }

    private let mailbox: Mailbox

    init(_ configuration: RedisStore.Configuration, _ reports: Reports) {
        let mailbox = Mailbox()
        self.mailbox = mailbox
        let isStarted = DedicatedThread.start(name: "redis-store") {
            LoopThread(configuration, reports, mailbox).run()
        }
        if !isStarted { mailbox.close() }
    }

    deinit { mailbox.post(.stop(by: .now, done: { _ in })) }

    func post(_ message: Message) { mailbox.post(message) }
}

/// The messages to a loop's thread, and the pair of sockets that wakes it.
final class Mailbox: Sendable {
    /// The end at which the thread waits.
    let descriptor: Int32
    private let wakingEnd: Int32
    private let state = NIOLockedValueBox((messages: [ConnectionLoop.Message](), isOpen: true))

    init() {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        socketpair(AF_UNIX, type, 0, &ends)
        (descriptor, wakingEnd) = (ends[0], ends[1])
        if descriptor < 0 { close() }
    }

    deinit {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        Glibc.close(wakingEnd)
    }

    /// Hands a message to the thread. If it has ended, nothing is sent and exchanges fail.
    func post(_ message: ConnectionLoop.Message) {
        let (isOpen, isFirst) = state.withLockedValue { state in
            if state.isOpen { state.messages.append(message) }
            return (state.isOpen, state.messages.count == 1)
        }
        guard isOpen else { return Self.refuse(message) }
        if isFirst { withUnsafeBytes(of: UInt8(0)) { _ = RedisSocket.send(wakingEnd, [$0]) } }
    }

    /// Takes all messages.
    func take() -> [ConnectionLoop.Message] {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            while case .moved(bytes.count) = RedisSocket.receive(descriptor, into: bytes) {}
        }
        return state.withLockedValue { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Takes no more messages.
    func close() {
        let left = state.withLockedValue { state in
            defer { state = ([], false) }
            return state.messages
        }
        for message in left { Self.refuse(message) }
    }

    private static func refuse(_ message: ConnectionLoop.Message) {
        switch message {
        case .send(let exchange, _): exchange.end(.failure(.shutDown))
        case .connected(_, .success(let descriptor)): Glibc.close(descriptor)
        case .stop(_, let done): done(true)
        case .connected, .subscribe, .unsubscribe, .disconnect: break
        }
    }
}
