extension Duration {
    /// The duration in seconds, to the precision of a `Double`.
    @usableFromInline
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
