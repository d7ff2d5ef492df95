import HalcyonSystem

extension WorkContext {
    /// Returns a context whose work is cancelled at one of its checks, for tests of a processor or a coder.
    ///
    ///     #expect(throws: CancellationError.self) {
    ///         try MyProcessor().process(image, context: .cancelled(atCheck: 2))
    ///     }
    ///
    /// - Parameter check: the number of the first check that finds the work cancelled; 1, the default, is the first check.
    public static func cancelled(atCheck check: Int = 1) -> WorkContext {
        let checks = Lock(0)
        return WorkContext {
            checks.withLock { checks in
                checks += 1
                return checks >= check
            }
        }
    }
}
