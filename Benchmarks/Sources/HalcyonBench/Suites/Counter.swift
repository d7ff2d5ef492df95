import Synchronization

/// Counts the hits of several threads, so that no lookup can be optimised away and no miss goes unnoticed.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func add(_ number: Int) {
        count.wrappingAdd(number, ordering: .relaxed)
    }

    var value: Int { count.load(ordering: .relaxed) }

    func check(_ expected: Int) throws {
        let count = count.load(ordering: .relaxed)
        if count != expected { throw BenchmarkFailure("\(count) of \(expected) were as expected") }
    }
}
