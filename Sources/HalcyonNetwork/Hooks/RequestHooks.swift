/// What a program does to the transfer of one request, besides the downloader's own hooks and after them.
///
/// Functions cannot be compared, so they go by a name: two requests whose hooks have different names never share a
/// transfer, and two with the same name must mean the same, for one of them may be answered by what the other's have done.
public struct RequestHooks: Sendable {
    public let id: String
    public let hooks: DownloadHooks

    public init(id: String, _ hooks: DownloadHooks) {
        self.id = id
        self.hooks = hooks
    }
}

extension RequestHooks: Hashable {
    /// By name.
    public static func == (left: RequestHooks, right: RequestHooks) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
