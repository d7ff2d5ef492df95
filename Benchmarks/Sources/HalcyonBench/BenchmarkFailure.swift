/// A condition that invalidates a benchmark: a lookup that misses, an image of the wrong size.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
