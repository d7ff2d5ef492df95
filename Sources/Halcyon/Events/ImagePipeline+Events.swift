extension ImagePipeline {
    /// What happens to all loads of this pipeline from now on, with the latest 1,024 events kept for a slow reader.
    public var events: AsyncStream<PipelineEvent> { events(bufferingNewest: 1024) }

    /// What happens to all loads of this pipeline from now on.
    ///
    /// Each call makes a stream of its own, which sees every event and ends with the pipeline. Without a reader nothing
    /// is made or kept. Loads that began before tell the rest of what happens to them.
    ///
    /// - Parameter limit: the events that are kept for a reader who is slow, at least one; then the oldest go, and
    ///   `PipelineEvent.number` shows how many.
    public func events(bufferingNewest limit: Int) -> AsyncStream<PipelineEvent> {
        coordinator.hub.stream(bufferingNewest: limit)
    }
}
