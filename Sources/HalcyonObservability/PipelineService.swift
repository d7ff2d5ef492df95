#if Observability
import Halcyon
import ServiceLifecycle

/// A pipeline as a service of swift-service-lifecycle: it reports metrics while the program runs, and writes what is pending to
/// the disk at its end.
///
///     let group = ServiceGroup(services: [PipelineService(pipeline), server], logger: logger)
///
/// List it before the services that load images: a group ends its services in the opposite order.
public struct PipelineService: Service {
    private let pipeline: ImagePipeline
    private let metrics: PipelineMetrics?
    private let time: Duration

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - pipeline: the pipeline, the shared one by default.
    ///   - metrics: its metrics; nil, the default, reports none.
    ///   - time: the maximum delay of the program's end, 10 s by default.
    public init(
        _ pipeline: ImagePipeline = .shared, metrics: PipelineMetrics? = nil,
        shutdownWithin time: Duration = .seconds(10)
    ) {
        (self.pipeline, self.metrics, self.time) = (pipeline, metrics, time)
    }

    /// Runs until the program shuts down or the task is cancelled, then writes all pending entries to the disk.
    public func run() async throws {
        await withTaskGroup { group in
            if let metrics { group.addTask { await metrics.run() } }
            try? await gracefulShutdown()
            group.cancelAll()
        }
        // A task of its own, since this one may be cancelled, and the disk has its time all the same.
        let (pipeline, time) = (pipeline, time)
        await Task.detached { _ = await pipeline.shutdown(within: time) }.value
    }
}
#endif
