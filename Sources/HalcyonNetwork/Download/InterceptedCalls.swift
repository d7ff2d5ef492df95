import HalcyonSystem

/// The downloads whose interceptors are running. Each ends when its interceptors have ended, or at once when it is
/// cancelled: the code that resumes a call removes it from the locked state first.
final class InterceptedCalls: Sendable {
    private struct Call {
        let url: String
        let continuation: CheckedContinuation<DownloadResult, any Error>
        let task: Task<Void, Never>
    }

    /// The caller of a download that has a ticket. The priority is that of the transfer, which follows the ticket itself.
    private final class Caller: WorkTicketListener {
        private let id: Int
        private let calls: InterceptedCalls

        init(_ id: Int, of calls: InterceptedCalls) {
            (self.id, self.calls) = (id, calls)
        }

        func cancelled() {
            calls.cancel(id)
        }

        func priorityChanged(of ticket: WorkTicket) {}
    }

    private let calls = Lock<[Int: Call]>([:])

    /// Runs the interceptors around `transfer`.
    ///
    /// - Parameter id: A number that no other call has.
    func result(
        _ id: Int, of request: DownloadRequest, ticket: WorkTicket?, interceptors: [any DownloadInterceptor],
        transfer: @escaping DownloadInterceptor.Next
    ) async throws -> DownloadResult {
        let caller = Caller(id, of: self)
        guard ticket?.add(caller) ?? true else { throw CancellationError() }
        defer { ticket?.remove(caller) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isRefused = calls.withLock { calls in
                    // A cancellation that comes later finds the call.
                    if Task.isCancelled || ticket?.isCancelled ?? false { return true }
                    let task = Task {
                        let result: Result<DownloadResult, any Error>
                        do {
                            result = .success(try await Self.run(interceptors[...], request, transfer))
                        } catch {
                            result = .failure(error)
                        }
                        self.calls.withLock { $0.removeValue(forKey: id) }?.continuation.resume(with: result)
                    }
                    calls[id] = Call(url: request.url.withoutFragment, continuation: continuation, task: task)
                    return false
                }
                if isRefused { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Cancels all calls for a URL, or all calls if it is nil, with `CancellationError`.
    func cancelAll(_ url: String? = nil) {
        let ids = calls.withLock { calls in calls.filter { url == nil || $0.value.url == url }.map(\.key) }
        for id in ids { cancel(id) }
    }

    private func cancel(_ id: Int) {
        guard let call = calls.withLock({ $0.removeValue(forKey: id) }) else { return }
        // First the transfer, so that the caller receives no more progress after it continues.
        call.task.cancel()
        call.continuation.resume(throwing: CancellationError())
    }

    private static func run(
        _ interceptors: ArraySlice<any DownloadInterceptor>, _ request: DownloadRequest,
        _ transfer: @escaping DownloadInterceptor.Next
    ) async throws -> DownloadResult {
        guard let first = interceptors.first else { return try await transfer(request) }
        do {
            return try await first.intercept(request) { try await run(interceptors.dropFirst(), $0, transfer) }
        } catch let error where !(error is DownloadError) && !(error is CancellationError) {
            throw DownloadError(.refused("an interceptor: \(error)"), url: request.url, underlying: error)
        }
    }
}
