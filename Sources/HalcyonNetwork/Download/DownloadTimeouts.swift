/// How long a download may take. 136 years and more are no limit.
public struct DownloadTimeouts: Sendable, Hashable {
    /// To a connection, for each attempt and redirect. 10 s.
    public var connect: Duration
    /// The longest silence once connected: until the whole head is there, and between the bytes of the body. 15 s.
    public var idle: Duration
    /// For all of it from the first attempt's start: waits for a turn, redirects and retries; nil, the default, is no
    /// limit.
    public var total: Duration?
    /// The least that a body must bring. 100 bytes a second over 30 s.
    public var leastRate: LeastRate

    public init(
        connect: Duration = .seconds(10), idle: Duration = .seconds(15), total: Duration? = nil,
        leastRate: LeastRate = LeastRate()
    ) {
        self.connect = connect
        self.idle = idle
        self.total = total
        self.leastRate = leastRate
    }
}

/// The least rate at which a body must come. A download that falls below it ends with `TimeoutKind.leastRate`.
///
/// Only the time in which the download waits for the server counts: none in which its bytes wait to be read, and none in
/// which the process got no processor.
public struct LeastRate: Sendable, Hashable {
    /// Bytes on the wire in each second, on average over a period. 100; 0 or less is no limit.
    public var bytesPerSecond: Int
    /// Over how long it is measured, one period after the other, to the second. 30 s.
    public var period: Duration

    public init(bytesPerSecond: Int = 100, over period: Duration = .seconds(30)) {
        self.bytesPerSecond = bytesPerSecond
        self.period = period
    }

    /// No limit.
    public static let none = LeastRate(bytesPerSecond: 0)

    /// Whether so many bytes in some time are too few; nil before the period is over.
    func isMissed(by bytes: Int, in time: Duration) -> Bool? {
        guard bytesPerSecond > 0 else { return false }
        guard time >= max(period, .seconds(1)) else { return nil }
        return Double(bytes) < Double(bytesPerSecond) * (time / .seconds(1))
    }
}
