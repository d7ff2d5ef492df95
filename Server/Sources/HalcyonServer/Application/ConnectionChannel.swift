import HummingbirdCore
import Logging
import NIOCore

/// An HTTP connection whose task runs on the connection's event loop.
///
/// An answer from memory is made without a change of threads, which would take more than all else about it. Work on pictures has tasks
/// of its own elsewhere (`whileClientWaits`).
struct ConnectionChannel: ServerChildChannel {
    let channel: HTTP1Channel
    /// Whatever answers requests that have been answered before; nil for a port without any.
    let warm: ServerResponder?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        self.channel.setup(channel: channel, logger: logger).flatMapThrowing { value in
            guard let warm else { return value }
            // Behind the handler that knows whether requests are under way.
            let pipeline = channel.pipeline.syncOperations
            let place = try pipeline.handler(type: HTTPConnectionStateHandler.self)
            try pipeline.addHandler(WarmRequests(warm), position: .after(place))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
            await channel.handle(value: value, logger: logger)
        }
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
