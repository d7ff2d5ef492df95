import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// An HTTP connection whose task runs on the connection's event loop.
///
/// An answer from memory is made without a change of threads, which would take more than all else about it. Work on pictures has tasks
/// of its own elsewhere (`whileClientWaits`).
struct ConnectionChannel: ServerChildChannel {
    let channel: HTTP1Channel
    /// Whatever answers requests that have been answered before; nil for a port without any.
    let warm: ServerResponder?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        self.channel.setup(channel: channel, logger: logger).flatMapThrowing { stream in
            let connection = AcceptedConnection(stream)
            guard let warm else { return connection }
            // Behind the handler that knows whether requests are under way.
            let pipeline = channel.pipeline.syncOperations
            let place = try pipeline.handler(type: HTTPConnectionStateHandler.self)
            try pipeline.addHandler(WarmRequests(warm), position: .after(place))
            return connection
        }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
            await channel.handle(value: value.take(), logger: logger)
        }
    }
}

/// A connection that waits for the task that reads it. A server that stops comes to none of those that it accepts meanwhile, and NIO
/// ends the process for a stream that is dropped without being closed: this closes it.
final class AcceptedConnection: ServerChildChannelValue {
    private let stream: HTTP1Channel.Value
    private let isTaken = Atomic(false)

    init(_ stream: HTTP1Channel.Value) {
        self.stream = stream
    }

    var channel: any Channel { stream.channel }

    /// Returns the stream to whoever closes it.
    func take() -> HTTP1Channel.Value {
        isTaken.store(true, ordering: .relaxed)
        return stream
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        Task { [stream] in try await stream.executeThenClose { _, _ in } }
    }
}

/// An event loop as an executor of tasks.
final class EventLoopTaskExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
