extension Task where Success == Never, Failure == Never {
    /// Waits until the current task is cancelled.
    package static func waitForCancellation() async {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        // Released only now: a stream without a continuation ends.
        continuation.finish()
    }
}
