extension ImagePipeline {
    /// The events of all loads of this pipeline from now on. The latest 1,024 events are kept for a slow reader.
    public var events: AsyncStream<PipelineEvent> { events(bufferingNewest: 1024) }

    /// Returns the events of all loads of this pipeline from now on.
    ///
    /// Each call makes a stream of its own, which receives every event and ends with the pipeline. Without a reader no
    /// events are made or kept. A load that began before reports only its remaining events.
    ///
    /// - Parameter limit: the number of events that are kept for a slow reader, at least one. Beyond that the oldest
    ///   are dropped, and the gap in `PipelineEvent.number` shows how many.
    public func events(bufferingNewest limit: Int) -> AsyncStream<PipelineEvent> {
        coordinator.hub.stream(bufferingNewest: limit)
    }
}
