import Foundation
import HalcyonNetwork
import HalcyonSystem

/// The question to a source's server: for its bytes, or whether the stored ones still hold.
@JobActor
struct ServerQuestion {
    let url: URL
    let resolved: ResolvedRequest
    let stored: StoredOriginal?
    /// The beginning of the work for these bytes.
    let mark: SourceMark
    let subscription: Subscription

    private var configuration: ImagePipeline.Configuration { resolved.coordinator.configuration }
    private var credentials: CredentialFields { configuration.downloader.configuration.credentialFields }

    /// - Throws: `DownloadError`; `CancellationError`.
    func answer() async throws -> FetchedData {
        let asked = configuration.clock.now
        // The fields that are sent now: the downloader's own may change before the answer has arrived.
        let sent = resolved.sentHeaders
        var transfer = request(sending: sent)
        var result = try await transferred(transfer)
        if result.isNotModified {
            if let stored, stored.http?.isConfirmed(by: result.head) == true {
                return await revalidated(stored, by: result, sent: sent, now: asked)
            }
            // It speaks of an answer that is not here: asked for once more, as if nothing were stored.
            for name in ["If-None-Match", "If-Modified-Since"] { transfer.headers.remove(name) }
            result = try await transferred(transfer)
            if result.isNotModified { throw DownloadError(.httpStatus(304), url: url) }
        }
        // The earlier of the two times, so that nothing is taken for fresher than it is.
        var http = HTTPCacheMetadata(result.head, requestHeaders: sent, credentials: credentials, now: asked)
        // A temporary redirect may lead elsewhere tomorrow, however long its target says that it is good.
        if !result.redirectsArePermanent { http = http.requiringRevalidation() }
        var rule = CacheRule(storing: result, http, control: resolved.control, replaces: stored != nil)
        // A hook or an interceptor has made it another user's, or a default field has changed meanwhile.
        if !http.isShared, !result.isFor(resolved.sender) { rule = .notStored(.unknownUser) }
        if case .notStored(let reason) = rule { subscription.note(.notStored(reason)) }
        return FetchedData(
            data: result.data, origin: .network, http: http, rule: rule, transfer: result.metrics, memory: result.hold,
            mark: mark)
    }

    private func revalidated(
        _ stored: StoredOriginal, by result: DownloadResult, sent: HTTPHeaders, now: Date
    ) async -> FetchedData {
        var http = stored.http?.merging(
            notModified: result.head, requestHeaders: sent, credentials: credentials, now: now)
        if !result.redirectsArePermanent { http = http?.requiringRevalidation() }
        let isOfUser = result.isFor(resolved.sender)
        var stays = true
        if let http, !http.noStore, isOfUser, resolved.cache.writes.contains(.diskOriginal) {
            let disk = resolved.originals.disk
            stays = resolved.key.place(of: http).originalDiskKey == stored.place
            if stays {
                // A disk that cannot be written costs another revalidation, and nothing else.
                _ = try? await disk?.updateMetadata(
                    http.encoded(), for: stored.place, replacing: stored.metadata,
                    expiration: resolved.cache.diskExpiration)
            } else {
                // It was for all users and is for one now, or the other way round: it is stored anew, in its place.
                await disk?.remove(stored.place)
            }
        }
        return FetchedData(
            data: stored.data, origin: .revalidated, http: http, rule: .revalidated, transfer: result.metrics,
            isStored: stays, matchesKey: isOfUser, mark: mark)
    }

    // MARK: - Transfer

    private func transferred(_ transfer: DownloadRequest) async throws -> DownloadResult {
        let (subscription, newest) = (subscription, NewestProgress())
        let ticket = DownloadTicket(priority: subscription.priority)
        let link = subscription.follow { ticket.priority = $0 }
        defer { subscription.unfollow(link) }
        var transfer = transfer
        if resolved.coordinator.hub.isActive {
            // Attempts are told of only while somebody reads.
            transfer.observe = { event in
                guard case .retried(let error, let attempt) = event else { return }
                JobActor.perform { subscription.note(.retried(error, attempt: attempt)) }
            }
        }
        subscription.note(.transferStarted)
        let result: DownloadResult
        do {
            result = try await configuration.downloader.download(transfer, ticket: ticket) { progress in
                if newest.put(progress) { JobActor.perform { newest.relay(to: subscription) } }
            }
        } catch {
            newest.close()
            if let error = error as? DownloadError { subscription.note(.transferFailed(error)) }
            throw error
        }
        newest.relay(to: subscription)
        newest.close()
        subscription.note(.transferEnded(TransferSummary(result)))
        return result
    }

    private func request(sending sent: HTTPHeaders) -> DownloadRequest {
        let options = resolved.request.network
        var transfer = DownloadRequest(url: url, priority: subscription.priority)
        transfer.headers = sent
        // Other credentials are among the fields.
        if options.credential?.digest != nil { transfer.credential = options.credential }
        transfer.user = options.user
        transfer.hooks = options.hooks
        transfer.bodyBudget = EncodedBytes.budget
        transfer.exposesBody = resolved.request.wantsPreviews
        transfer.timeouts = options.timeouts(over: configuration.downloader.configuration.timeouts)
        transfer.maximumBytes = options.maximumBytes ?? configuration.maximumBytes
        if let retries = options.retries {
            transfer.retry = configuration.downloader.configuration.retry
            transfer.retry?.maximumRetries = retries
        }
        if resolved.cache.reads.isEmpty, !transfer.headers.contains("Cache-Control") {
            // A reload means the caches on the way as well.
            transfer.headers.set("Cache-Control", "no-cache")
        }
        for field in stored?.http?.conditionalHeaders.fields ?? [] { transfer.headers.set(field.name, field.value) }
        return transfer
    }
}

/// The progress of a transfer on its way to the job's actor, where only the newest counts.
private final class NewestProgress: Sendable {
    private struct State {
        var waiting: DownloadProgress?
        var isClosed = false
    }

    private let state = Lock(State())

    /// - Returns: whether a relay has to be asked for; false if one is on its way already.
    func put(_ progress: DownloadProgress) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            defer { state.waiting = progress }
            return state.waiting == nil
        }
    }

    /// Nothing of this transfer is told from now on.
    func close() {
        let rest = state.withLock { state in
            defer { state = State(waiting: nil, isClosed: true) }
            return state.waiting
        }
        // Freed outside of the lock.
        withExtendedLifetime(rest) {}
    }

    @JobActor
    func relay(to subscription: Subscription) {
        let newest = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        guard let newest else { return }
        subscription.send(.progress(LoadProgress(received: newest.received, expected: newest.expected)))
        if let body = newest.body { subscription.send(.body(body)) }
    }
}

extension DownloadResult {
    /// Whether it was given to this user alone.
    fileprivate func isFor(_ user: KeyedHash?) -> Bool { users.allSatisfy { $0 == user } }
}
