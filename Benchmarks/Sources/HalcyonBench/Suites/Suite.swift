/// Comparisons that share their input.
protocol Suite: Sendable {
    /// The names that its comparisons bear.
    var names: [String] { get }

    /// Makes the input, which may take seconds, and what is to be measured with it.
    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison]
}
