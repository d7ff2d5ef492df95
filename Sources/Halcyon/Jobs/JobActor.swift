import HalcyonSystem

/// The isolation of the pipelines' bookkeeping: the jobs that are under way, and the subscriptions to them.
///
/// One thread serves all pipelines, and nothing on it blocks: files go to `ThreadPools.io`, codecs and processors to
/// the pipeline's `processingThreads`, transfers to the transport's thread, and the program's own code runs elsewhere, but
/// for image modifiers, log handlers, backends of metrics, callbacks that ask to run inline, and the short questions to
/// processors, coders and clocks: whether they are valid or equal, what a coder can do, the time. The thread is the actor's
/// own, since a default actor that is reached under a task executor preference runs wherever the preference says.
@globalActor
actor JobActor {
    static let shared = JobActor()

    private static let executor = SerialThreadExecutor(name: "halcyon-jobs")

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// Runs `body` on the actor: at once if the caller is on it, otherwise after all work that was submitted before.
    ///
    /// The order makes "cancel, then ask again" a new load: a cancelled job leaves the jobs that it waits for in the
    /// same step, down the whole graph.
    nonisolated static func perform(_ body: @escaping @JobActor @Sendable () -> Void) {
        if executor.isCurrent { withoutIsolation(body)() } else { submit(body) }
    }

    /// Runs `body` on the actor after all work that was submitted before, and never within the caller's work: callbacks that
    /// begin the next load do not deepen the stack.
    nonisolated static func submit(_ body: @escaping @JobActor @Sendable () -> Void) {
        executor.submit(withoutIsolation(body))
    }

    /// Swift has `assumeIsolated` with a closure isolated to the actor for the main actor alone. The callers run the result on
    /// the executor's thread, so the isolation that the cast removes holds.
    nonisolated private static func withoutIsolation(
        _ body: @escaping @JobActor @Sendable () -> Void
    ) -> @Sendable () -> Void {
        unsafeBitCast(body, to: (@Sendable () -> Void).self)
    }
}
