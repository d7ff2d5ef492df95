import Foundation
import HalcyonSystem
import Synchronization

/// Downloads bytes over HTTP: redirects, retries, limits, and one transfer for all who ask for the same.
///
/// Two downloads are the same when URL, header fields and bounds are. They share a transfer: each of them can be
/// cancelled without the others noticing, and the transfer ends with the last. Nothing is cached here.
///
/// At once run 24 transfers, 6 of them to one host and port, unless the configuration says otherwise; the others wait for
/// their turn, by priority. A transfer that has waited 10 s for its server leaves its place to others and goes on beside
/// them.
public final class ImageDownloader: Sendable {
    /// What the downloader is built with.
    public let configuration: Configuration

    let slots: TransferSlots
    let hub: DownloadHub
    let paces: PaceKeeper
    private let calls = InterceptedCalls()
    private let headers: Lock<HTTPHeaders>
    /// Whether neither interceptors nor the transport may say for whom a request is.
    private let hasNoUsers: Bool
    /// By whose name caches keep what comes to the transport's cookies, which live no longer than this.
    let cookieOwner = UUID().uuidString
    /// Whether the fields that every request carries say nothing of it.
    private let hasPlainHeaders: Atomic<Bool>

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        hasNoUsers = configuration.interceptors.isEmpty && !configuration.transport.identifiesUsers
        hasPlainHeaders = Atomic(!configuration.credentialFields.areIn(configuration.headers))
        slots = TransferSlots(
            perHost: configuration.transfersPerHost, total: configuration.transfers,
            aside: configuration.slowTransfers, order: configuration.order)
        paces = PaceKeeper(slots: slots, time: configuration.time)
        hub = DownloadHub(slots: slots)
        headers = Lock(configuration.headers)
    }

    /// The fields that every request carries; a request's own win. A change counts for downloads that start after it.
    public var defaultHeaders: HTTPHeaders {
        get { headers.withLock { $0 } }
        set { changeHeaders { $0 = newValue } }
    }

    /// Whether nothing of the downloader's own tells for whom a request is.
    var isAnonymous: Bool { hasNoUsers && hasPlainHeaders.load(ordering: .relaxed) }

    private func changeHeaders(_ change: (inout HTTPHeaders) -> Void) {
        headers.withLock { headers in
            change(&headers)
            hasPlainHeaders.store(!configuration.credentialFields.areIn(headers), ordering: .relaxed)
        }
    }

    /// Sets one of the fields that every request carries, in place of all with its name; nil removes them. Unlike changes
    /// through `defaultHeaders`, those from several threads at once all count.
    public func setDefaultHeader(_ name: String, _ value: String?) {
        changeHeaders { $0[name] = value }
    }

    /// Downloads a body, by way of the interceptors.
    ///
    /// - Parameters:
    ///   - ticket: to change the priority or to cancel from elsewhere; its priority wins over the request's.
    ///   - onProgress: called at the head and after each chunk, one call at a time, on no particular thread. Be quick:
    ///     the transfer waits. Whoever joins a running transfer is told at once how far it is.
    /// - Returns: a 2xx answer, or a 304 without a body when the request carried a validator.
    /// - Throws: `DownloadError`; `CancellationError` when the task or the ticket is cancelled.
    nonisolated(nonsending) public func download(
        _ request: DownloadRequest, ticket: DownloadTicket? = nil,
        onProgress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> DownloadResult {
        let request = request.withCredentialOfURL()
        guard !configuration.interceptors.isEmpty else {
            return try await transfer(request, ticket: ticket, onProgress: onProgress)
        }
        // Counted here, whatever the interceptors make of requests and results.
        let users = SentUsers()
        var result = try await calls.result(
            hub.nextID(), of: request, ticket: ticket, interceptors: configuration.interceptors
        ) { [self] in
            let result = try await transfer($0.withCredentialOfURL(), ticket: ticket, onProgress: onProgress)
            users.add(result.users)
            return result
        }
        result.users = users.all
        return result
    }

    /// What interceptors stand before.
    nonisolated(nonsending) private func transfer(
        _ request: DownloadRequest, ticket: DownloadTicket?, onProgress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> DownloadResult {
        let id = hub.nextID()
        let isAttached = ticket?.attach(
            id,
            DownloadTicket.Listener(
                cancel: { [hub] in hub.cancel(id) },
                priorityDidChange: { [hub, weak ticket] in
                    guard let ticket else { return }
                    hub.setPriority(id) { ticket.priority }
                }))
        guard isAttached ?? true else { throw CancellationError() }
        defer { ticket?.detach(id) }
        let request = try await prepared(request).withCredentialOfURL()
        var headers = request.headers.showing(request.credential)
        // Its field is the transport's to make.
        if request.credential?.digest != nil { headers.remove("Authorization") }
        let (sent, retry) = (headers, request.retry ?? configuration.retry)
        var result = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                hub.subscribe(
                    id, to: TransferKey(request, headers: sent, retry: retry),
                    progress: onProgress.map(ProgressRelay.init), continuation: continuation,
                    isCancelled: { Task.isCancelled || ticket?.isCancelled ?? false },
                    priority: { ticket?.priority ?? request.priority },
                    launch: { launch($0, request, headers: sent, retry: retry) })
            }
        } onCancel: {
            hub.cancel(id)
        }
        result.users = users(of: request, sending: sent, by: result.hops)
        return result
    }

    /// Downloads a body with the defaults.
    public func download(_ url: URL) async throws -> DownloadResult {
        try await download(DownloadRequest(url: url))
    }

    /// Cancels everybody who waits for this URL, with `CancellationError`.
    public func cancel(_ url: URL) {
        let text = url.hasUser ? url.withoutUser.withoutFragment : url.withoutFragment
        calls.cancelAll(text)
        hub.cancelAll { $0.url == text }
    }

    /// Cancels all downloads, with `CancellationError`.
    public func cancelAll() {
        calls.cancelAll()
        hub.cancelAll { _ in true }
    }

    /// As the program wants it sent: what two transfers have in common is known only then.
    nonisolated(nonsending) private func prepared(_ original: DownloadRequest) async throws -> DownloadRequest {
        var request = original
        request.timeouts = original.timeouts ?? configuration.timeouts
        request.headers = defaultHeaders.merging(original.headers)
        let codings = request.headers.addAcceptEncoding()
        // The program has the last word: nothing is added to what it makes of them.
        if configuration.hooks.request != nil || original.hooks?.hooks.request != nil {
            request = try await configuration.hooks.followed(by: original.hooks?.hooks).modified(request)
            if let codings { request.headers.adaptAcceptEncoding(codings) }
        }
        try Task.checkCancellation()
        // What arrives is not yet what is decoded.
        if configuration.hooks.data != nil || original.hooks?.hooks.data != nil { request.exposesBody = false }
        return request
    }

    private func launch(
        _ id: Int, _ request: DownloadRequest, headers: HTTPHeaders, retry: RetryPolicy
    ) -> Task<Void, Never> {
        let run = DownloadRun(id, request, headers: headers, retry: retry, downloader: self)
        // Detached: the transfer belongs to all who share it, so it takes nothing over from the one who came first.
        return Task.detached { [hub] in
            do {
                hub.finish(id, with: .success(try await run.perform()))
            } catch {
                hub.finish(id, with: .failure(error))
            }
        }
    }
}
