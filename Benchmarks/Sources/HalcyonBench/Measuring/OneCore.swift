import CFloors

/// The core that all sides of a comparison with other programs run on, one after the other.
enum OneCore {
    static let number = bench_last_core()

    /// Runs `body` on that core.
    static func run<Result>(_ body: () throws -> Result) throws -> Result {
        guard bench_pin_thread(number) else { throw BenchmarkFailure("no thread can be kept on core \(number)") }
        defer { bench_unpin_thread() }
        return try body()
    }
}
