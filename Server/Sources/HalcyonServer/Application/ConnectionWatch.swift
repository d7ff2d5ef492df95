import Glibc
import NIOCore
import Synchronization

/// The work for one request, which is cancelled when its client leaves.
struct WatchedWork: Sendable {
    fileprivate enum Step {
        case began, ended
    }

    fileprivate let id: UInt64
    fileprivate let step: Step
    fileprivate let cancel: @Sendable () -> Void

    private static let count = Atomic<UInt64>(0)

    fileprivate static func next() -> UInt64 {
        count.add(1, ordering: .relaxed).newValue
    }
}

/// The handler that stands for the server's patience with one client.
///
/// It tells the work for a request when the client has closed its side of the connection, which leaves the connection usable, and
/// closes a connection whose client takes no byte of an answer for too long. Both use what the kernel reports: a connection costs no
/// task and no thread.
final class ConnectionWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    private let writeTimeout: TimeAmount
    private var works: [UInt64: @Sendable () -> Void] = [:]
    private var hasLeft = false
    private var writes = 0
    private var lastProgress = NIODeadline.uptimeNanoseconds(0)
    private var timer: Scheduled<Void>?

    init(writeTimeout: TimeAmount) {
        self.writeTimeout = writeTimeout
    }

    // MARK: - Clients that leave

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let work = event as? WatchedWork else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        switch work.step {
        case .began where hasLeft: work.cancel()
        case .began: works[work.id] = work.cancel
        case .ended: works[work.id] = nil
        }
        promise?.succeed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { leave() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        hasLeft = true
        for cancel in works.values { cancel() }
        works = [:]
    }

    // MARK: - Clients that take nothing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let promise = promise ?? context.eventLoop.makePromise()
        let (watch, bound) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.eventLoop)
        bound.assertInEventLoop()
        writes += 1
        lastProgress = .now()
        promise.futureResult.whenComplete { _ in
            watch.value.writes -= 1
            watch.value.lastProgress = .now()
        }
        context.write(data, promise: promise)
        watchWrites(NIOLoopBound(context, eventLoop: context.eventLoop), in: writeTimeout)
    }

    private func watchWrites(_ context: NIOLoopBound<ChannelHandlerContext>, in time: TimeAmount) {
        guard timer == nil else { return }
        let watch = NIOLoopBound(self, eventLoop: context.value.eventLoop)
        timer = context.value.eventLoop.scheduleTask(in: time) { watch.value.check(context) }
    }

    private func check(_ context: NIOLoopBound<ChannelHandlerContext>) {
        timer = nil
        guard writes > 0 else { return }
        let deadline = lastProgress + writeTimeout
        if deadline <= .now() {
            // The kernel would keep what the client has not taken, and wait for it.
            let reset = linger(l_onoff: 1, l_linger: 0)
            _ = (context.value.channel as? any SocketOptionProvider)?.setSoLinger(reset)
            context.value.close(promise: nil)
        } else {
            watchWrites(context, in: deadline - .now())
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        leave()
    }
}

extension Channel {
    /// Does work for a request, as a task that is cancelled as soon as the client leaves.
    func whileClientWaits<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await work() }
        let id = WatchedWork.next()
        triggerUserOutboundEvent(WatchedWork(id: id, step: .began) { task.cancel() }, promise: nil)
        defer { triggerUserOutboundEvent(WatchedWork(id: id, step: .ended) {}, promise: nil) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
