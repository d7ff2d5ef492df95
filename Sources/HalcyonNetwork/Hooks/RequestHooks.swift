/// Hooks for the transfer of one request, called after the downloader's own hooks.
///
/// Closures cannot be compared, so hooks are compared by `id`: two requests whose hooks have different IDs never share
/// a transfer, and two with the same ID must do the same, as one request may receive the result of the other's hooks.
public struct RequestHooks: Sendable {
    public let id: String
    public let hooks: DownloadHooks

    public init(id: String, _ hooks: DownloadHooks) {
        self.id = id
        self.hooks = hooks
    }
}

extension RequestHooks: Hashable {
    /// Returns whether both have the same `id`.
    public static func == (left: RequestHooks, right: RequestHooks) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
