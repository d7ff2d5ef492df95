/// A receiver of all loads of a pipeline from their requests on: `ImagePipeline.Configuration.tracer`.
///
/// `PipelineTracer` of `HalcyonObservability` makes spans of swift-distributed-tracing. A program that needs to know what happens,
/// and not for whom, reads `ImagePipeline.events`.
public protocol LoadTracer: Sendable {
    /// Returns the receiver of the events of a load, which begins now. An image that is in memory, or that a policy reads from
    /// the disk on the caller's thread, begins no load.
    ///
    /// It is called in the task that requests the image, so that task-local values are those of the caller, and must return
    /// quickly.
    ///
    /// - Parameter source: the name of the source, without query, user and password.
    func beginLoad(of source: String) -> any LoadTrace
}

/// The receiver of one load's events.
public protocol LoadTrace: Sendable {
    /// Receives an event: `started` first, `ended` last, one at a time and just after it happened. A load that is cancelled before
    /// it starts has its end alone.
    ///
    /// It is called on the thread that does the bookkeeping of all loads, and must return quickly.
    ///
    /// - Parameter isShared: whether another load has reported this piece of work, which the two share.
    func receive(_ event: PipelineEvent.Kind, isShared: Bool)
}
