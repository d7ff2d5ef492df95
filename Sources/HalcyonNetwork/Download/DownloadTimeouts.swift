/// How long a download may take. 136 years and more are no limit.
public struct DownloadTimeouts: Sendable, Hashable {
    /// To a connection, for each attempt and redirect. 10 s.
    public var connect: Duration
    /// Of silence once connected. 15 s.
    public var idle: Duration
    /// For all of it from the first attempt's start: waits for a turn, redirects and retries; nil, the default, is no
    /// limit.
    public var total: Duration?

    public init(connect: Duration = .seconds(10), idle: Duration = .seconds(15), total: Duration? = nil) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}
