extension Duration {
    /// The duration from which a limit means "no limit": 136 years.
    ///
    /// It is far below durations whose sum or conversion to other units could overflow.
    static let longest = Duration.seconds(1 << 32)

    /// This duration as a limit; nil for no limit.
    var limit: Duration? { self < Self.longest ? self : nil }
}
