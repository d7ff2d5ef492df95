extension Duration {
    /// Whole milliseconds, cut off; the largest number there is for what exceeds it.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : Int(product) + Int(attoseconds / 1_000_000_000_000_000)
    }

    /// Seconds and their fraction.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
