/// What a piece of long work (a decode, a processor) is told about its surroundings: whether anybody still wants it.
///
/// Ask every few rows: the answer costs about 25 ns.
public struct WorkContext: Sendable {
    private let cancelled: @Sendable () -> Bool

    package init(isCancelled: @escaping @Sendable () -> Bool) {
        cancelled = isCancelled
    }

    /// For work that nobody will cancel.
    public static let uncancellable = WorkContext { false }

    /// Whether the last one who waited for this work has left. On a thread of the library's own this never returns once the
    /// program is ending.
    public var isCancelled: Bool {
        ProgramEnd.stopWork()
        return cancelled()
    }

    /// Throws `CancellationError` once nobody wants the result any more.
    public func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }
}
