/// The timeouts of a download. 136 years and more are no limit.
public struct DownloadTimeouts: Sendable, Hashable {
    /// The longest time until the connection is established, for each attempt and redirect. 10 s by default.
    public var connect: Duration
    /// The longest time without data on an established connection: until the head is complete, and between the bytes of
    /// the body. 15 s by default.
    public var idle: Duration
    /// The longest time from the start of the first attempt, including waits for a slot, redirects and retries; nil,
    /// the default, is no limit.
    public var total: Duration?
    /// The lowest rate for a body. 100 bytes per second over 30 s by default.
    public var minimumRate: MinimumRate

    /// Creates timeouts; omitted arguments take the defaults that the properties state.
    public init(
        connect: Duration = .seconds(10), idle: Duration = .seconds(15), total: Duration? = nil,
        minimumRate: MinimumRate = MinimumRate()
    ) {
        self.connect = connect
        self.idle = idle
        self.total = total
        self.minimumRate = minimumRate
    }
}

/// The lowest rate at which a body must arrive. A slower download ends with `TimeoutKind.minimumRate`.
///
/// Only the time in which the download waits for the server counts, not the time in which its bytes wait to be read or
/// the process gets no processor.
public struct MinimumRate: Sendable, Hashable {
    /// The transferred bytes per second, on average over a period. 100 by default; 0 or less is no limit.
    public var bytesPerSecond: Int
    /// The length of the measuring periods, which follow each other and are accurate to the second. 30 s by default.
    public var period: Duration

    /// Creates a rate, by default 100 bytes per second on average over 30 s.
    public init(bytesPerSecond: Int = 100, over period: Duration = .seconds(30)) {
        self.bytesPerSecond = bytesPerSecond
        self.period = period
    }

    /// A rate without a limit.
    public static let none = MinimumRate(bytesPerSecond: 0)

    /// Returns whether a number of bytes in a time is too small; nil before the period is over.
    func isMissed(by bytes: Int, in time: Duration) -> Bool? {
        guard bytesPerSecond > 0 else { return false }
        guard time >= max(period, .seconds(1)) else { return nil }
        return Double(bytes) < Double(bytesPerSecond) * (time / .seconds(1))
    }
}

extension Duration {
    /// The duration from which a limit means "no limit": 136 years.
    ///
    /// It is far below durations whose sum or conversion to other units could overflow.
    static let longest = Duration.seconds(1 << 32)

    /// This duration as a limit; nil for no limit.
    var limit: Duration? { self < Self.longest ? self : nil }
}
