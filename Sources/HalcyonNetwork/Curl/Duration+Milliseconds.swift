extension Duration {
    /// Whole milliseconds, cut off, from 0 to the number of them in `longest`.
    var milliseconds: Int {
        let (seconds, attoseconds) = min(max(self, .zero), Self.longest).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
