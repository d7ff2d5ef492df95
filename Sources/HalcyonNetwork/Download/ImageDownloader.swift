import Foundation
import HalcyonSystem
import Synchronization

/// A downloader of data over HTTP that handles redirects, retries and limits, and shares one transfer among identical
/// downloads.
///
/// Two downloads are identical if their URL, header fields and limits are. They share a transfer: each of them can be
/// cancelled without an effect on the others, and the transfer ends with the last one. Nothing is cached here.
///
/// Unless the configuration says otherwise, 24 transfers run at the same time, 6 of them to one host and port; the
/// others wait for a slot, by priority. A transfer that has waited 10 s for its server gives up its slot and continues
/// besides the others.
public final class ImageDownloader: Sendable {
    /// The configuration of the downloader.
    public let configuration: Configuration

    let slots: TransferSlots
    let hub: DownloadHub
    let paces: PaceKeeper
    private let calls = InterceptedCalls()
    private let headers: Lock<HTTPHeaders>
    /// Whether neither interceptors nor the transport can identify the user of a request.
    private let hasNoUsers: Bool
    /// The user name under which caches keep responses to the transport's cookies, which exist no longer than the downloader.
    let cookieOwner = UUID().uuidString
    /// Whether the default fields do not identify a user.
    private let hasPlainHeaders: Atomic<Bool>
    private let hasCacheDirectives: Atomic<Bool>

    /// Creates a downloader, with the default configuration unless another is given.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        hasNoUsers = configuration.interceptors.isEmpty && !configuration.transport.identifiesUsers
        hasPlainHeaders = Atomic(!configuration.credentialFields.areIn(configuration.headers))
        hasCacheDirectives = Atomic(RequestCacheControl.isIn(configuration.headers))
        slots = TransferSlots(
            perHost: configuration.transfersPerHost, total: configuration.transfers,
            aside: configuration.slowTransfers, order: configuration.order)
        paces = PaceKeeper(slots: slots, time: configuration.time)
        hub = DownloadHub(slots: slots)
        headers = Lock(configuration.headers)
    }

    /// The fields that every request carries, unless it overrides them. A change applies to downloads that start after it.
    public var defaultHeaders: HTTPHeaders {
        get { headers.withLock { $0 } }
        set { changeHeaders { $0 = newValue } }
    }

    /// Whether nothing in the downloader itself identifies the user of a request.
    package var isAnonymous: Bool { hasNoUsers && hasPlainHeaders.load(ordering: .relaxed) }

    private func changeHeaders(_ change: (inout HTTPHeaders) -> Void) {
        headers.withLock { headers in
            change(&headers)
            hasPlainHeaders.store(!configuration.credentialFields.areIn(headers), ordering: .relaxed)
            hasCacheDirectives.store(RequestCacheControl.isIn(headers), ordering: .relaxed)
        }
    }

    /// Returns whether the fields of a request, or those that are added to it, may have directives for caches.
    package func sendsCacheDirectives(with headers: HTTPHeaders) -> Bool {
        hasCacheDirectives.load(ordering: .relaxed) || !headers.isEmpty && RequestCacheControl.isIn(headers)
    }

    /// Sets a default field, replacing all with its name; nil removes them. Unlike changes through `defaultHeaders`,
    /// concurrent calls on several threads do not overwrite each other.
    public func setDefaultHeader(_ name: String, _ value: String?) {
        changeHeaders { $0[name] = value }
    }

    /// Downloads a body through the interceptors.
    ///
    /// - Parameters:
    ///   - ticket: A handle to change the priority or to cancel from elsewhere; its priority overrides that of the request.
    ///   - onProgress: Called at the head and after each chunk, or in the request's `progressStep`, one call at a time,
    ///     on no particular thread. It must return quickly: the transfer waits for it. A caller that joins a running
    ///     transfer gets the current progress at once.
    /// - Returns: A 2xx response, or a 304 without a body if the request had a validator.
    /// - Throws: `DownloadError`; `CancellationError` if the task or the ticket is cancelled.
    nonisolated(nonsending) public func download(
        _ request: DownloadRequest, ticket: WorkTicket? = nil,
        onProgress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> DownloadResult {
        let request = request.withCredentialOfURL()
        guard !configuration.interceptors.isEmpty else {
            return try await transfer(request, ticket: ticket, onProgress: onProgress)
        }
        // Collected here, as interceptors may change requests and results.
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

    /// Downloads a body without the interceptors.
    nonisolated(nonsending) private func transfer(
        _ request: DownloadRequest, ticket: WorkTicket?, onProgress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> DownloadResult {
        let id = hub.nextID()
        let caller = ticket == nil ? nil : DownloadHub.Caller(id, of: hub)
        if let ticket, let caller, !ticket.add(caller) { throw CancellationError() }
        defer { if let ticket, let caller { ticket.remove(caller) } }
        let request = try await prepared(request).withCredentialOfURL()
        var headers = request.headers.showing(request.credential)
        // The transport makes the field for a digest.
        if request.credential?.digest != nil { headers.remove("Authorization") }
        let (sent, retry) = (headers, request.retry ?? configuration.retry)
        // Previews take their bytes from each progress.
        let step = request.exposesBody ? nil : request.progressStep
        let report = onProgress.map { step?.thinning($0, by: configuration.time) ?? $0 }
        var result = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                hub.subscribe(
                    id, to: TransferKey(request, headers: sent, retry: retry),
                    progress: report.map(DeliveryQueue.init), continuation: continuation,
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

    /// Downloads a body with default settings.
    public func download(_ url: URL) async throws -> DownloadResult {
        try await download(DownloadRequest(url: url))
    }

    /// Cancels all downloads of a URL, with `CancellationError`.
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

    /// Returns the request with default fields and after the request hooks. Only then is it known which downloads are
    /// identical.
    nonisolated(nonsending) private func prepared(_ original: DownloadRequest) async throws -> DownloadRequest {
        var request = original
        request.timeouts = original.timeouts ?? configuration.timeouts
        request.headers = defaultHeaders.merging(original.headers)
        let codings = request.headers.addAcceptEncoding()
        // The program has the last word: nothing is added to the fields that its hook returns.
        if configuration.hooks.request != nil || original.hooks?.hooks.request != nil {
            request = try await configuration.hooks.followed(by: original.hooks?.hooks).modified(request)
            if let codings { request.headers.adaptAcceptEncoding(codings) }
        }
        try Task.checkCancellation()
        // The arriving bytes are not those that are decoded.
        if configuration.hooks.data != nil || original.hooks?.hooks.data != nil {
            (request.exposesBody, request.beginning) = (false, nil)
        }
        return request
    }

    private func launch(
        _ id: Int, _ request: DownloadRequest, headers: HTTPHeaders, retry: RetryPolicy
    ) -> Task<Void, Never> {
        let run = DownloadRun(id, request, headers: headers, retry: retry, downloader: self)
        // Detached: the transfer belongs to all subscribers, so it inherits nothing from the first one.
        return Task.detached { [hub] in
            do {
                hub.finish(id, with: .success(try await run.perform()))
            } catch let error where error is DownloadError || error is CancellationError {
                hub.finish(id, with: .failure(error))
            } catch {
                // A transport's own.
                let failure = DownloadError(.connection(.other), url: request.url, underlying: error)
                hub.finish(id, with: .failure(failure))
            }
        }
    }
}

extension ImageDownloader {
    /// The number of active transfers: running, waiting for a slot, or waiting for their next attempt.
    public var activeCount: Int { hub.transferCount }

    /// The number of running transfers.
    public var runningCount: Int { slots.runningCount }

    /// The number of running transfers that wait for their servers.
    package var silentCount: Int { paces.waitingCount }

    /// The number of transfers that wait for a slot.
    public var waitingCount: Int { slots.waitingCount }

    /// The number of downloads that have not ended; several may share a transfer.
    public var subscriberCount: Int { hub.subscriberCount }

    /// The number of concurrent transfers to one host and port, at first that of the configuration; less than 1 counts as 1.
    ///
    /// If it is lowered, running transfers continue; if it is raised, waiting ones start at once.
    public var transfersPerHost: Int {
        get { slots.limits.perHost }
        set { slots.changeLimits { $0.perHost = newValue } }
    }

    /// The number of concurrent transfers in all, at first that of the configuration; less than 1 counts as 1.
    ///
    /// If it is lowered, running transfers continue; if it is raised, waiting ones start at once.
    public var transfers: Int {
        get { slots.limits.total }
        set { slots.changeLimits { $0.total = newValue } }
    }

    /// Suspends the queue: no transfer starts until `resume()`.
    ///
    /// Running transfers continue, including redirects; a retry waits. Timeouts continue to run. Calls do not add up:
    /// one `resume()` is enough.
    public func suspend() {
        slots.setSuspended(true)
    }

    /// Resumes the queue: starts the transfers that have waited since `suspend()`, by priority and order.
    public func resume() {
        slots.setSuspended(false)
    }

    /// Whether the queue is suspended.
    public var isSuspended: Bool { slots.isSuspended }
}
