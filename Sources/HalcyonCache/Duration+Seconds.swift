extension Duration {
    /// The duration as seconds, as exact as a `Double` is.
    @usableFromInline
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
