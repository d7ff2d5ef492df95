import HalcyonNetwork

/// An interceptor for a test.
struct TestInterceptor: DownloadInterceptor {
    let body: @Sendable (DownloadRequest, @escaping Next) async throws -> DownloadResult

    init(_ body: @escaping @Sendable (DownloadRequest, @escaping Next) async throws -> DownloadResult) {
        self.body = body
    }

    func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
        try await body(request, next)
    }
}
