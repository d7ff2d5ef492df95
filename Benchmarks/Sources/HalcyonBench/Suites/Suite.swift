/// Comparisons that share their input.
protocol Suite: Sendable {
    /// The names of its comparisons.
    var names: [String] { get }

    /// Makes the input, which may take seconds, and returns the comparisons on it.
    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison]
}
