extension Duration {
    /// What is as long as this or longer means "no limit": 136 years.
    ///
    /// Far from what a sum of times or their conversion to other units can overflow at.
    static let longest = Duration.seconds(1 << 32)

    /// This time as a limit; nil for none.
    var limit: Duration? { self < Self.longest ? self : nil }
}
