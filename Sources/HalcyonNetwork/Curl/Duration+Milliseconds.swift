extension Duration {
    /// The number of whole milliseconds, rounded down, from 0 to that of `longest`.
    var milliseconds: Int {
        let (seconds, attoseconds) = min(max(self, .zero), Self.longest).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
