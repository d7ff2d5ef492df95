import CFloors

/// The core that everything of a comparison with other programs runs on, one after the other.
enum OneCore {
    static let number = bench_last_core()

    /// Runs `body` on it.
    static func run<Result>(_ body: () throws -> Result) throws -> Result {
        guard bench_pin_thread(number) else { throw BenchmarkFailure("no thread can be kept on core \(number)") }
        defer { bench_unpin_thread() }
        return try body()
    }
}
