import HalcyonSystem
import Testing

/// Runs work, then again a dozen times or so, cancelled at one of the checks that it makes, and expects it to end by that.
///
/// - Parameter leastChecks: the number of checks that it makes at least.
func expectCancellation(leastChecks: Int, of work: (WorkContext) throws -> Void) throws {
    let checks = Lock(0)
    try work(
        WorkContext {
            checks.withLock { $0 += 1 }
            return false
        })
    let count = checks.withLock { $0 }
    #expect(count >= leastChecks)
    for last in stride(from: 1, through: count, by: max(1, count / 12)) {
        let left = Lock(last)
        let context = WorkContext {
            left.withLock {
                $0 -= 1
                return $0 <= 0
            }
        }
        #expect(throws: CancellationError.self, "check \(last) of \(count)") { try work(context) }
    }
}
