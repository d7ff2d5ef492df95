/// What a step tells of itself, up to every load that shares it.
struct LoadNote: Sendable {
    let kind: PipelineEvent.Kind
    /// Of the look-up, where it was one.
    var took: Duration?

    init(_ kind: PipelineEvent.Kind, took: Duration? = nil) {
        self.kind = kind
        self.took = took
    }
}

extension Demand {
    /// Tells it to every load that waits.
    func note(_ kind: PipelineEvent.Kind, took: Duration? = nil) {
        send(.note(LoadNote(kind, took: took)))
    }
}
