import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

/// A request to a source's server for the bytes, or for a revalidation of the stored ones.
@JobActor
struct ServerQuestion {
    let url: URL
    let resolved: ResolvedRequest
    let stored: FetchedData?
    /// The moment at which the work for these bytes began.
    let mark: SourceMark
    /// The claim of this process to ask the server.
    let claim: CacheClaimToken?
    let subscription: Subscription

    private var configuration: ImagePipeline.Configuration { resolved.coordinator.configuration }
    private var credentials: CredentialFields { configuration.downloader.configuration.credentialFields }

    /// Returns the bytes of the server's answer, or the stored ones if the server confirms them.
    ///
    /// - Throws: `DownloadError`; `CodecError.limitExceeded`; `CancellationError`.
    func answer() async throws -> FetchedData {
        let asked = configuration.clock.now
        // The header fields that are sent now: the downloader's own may change before the answer has arrived.
        let sent = resolved.sentHeaders
        var transfer = request(sending: sent)
        var result = try await transferred(transfer)
        if result.isNotModified {
            if let stored, stored.provenance.http?.isConfirmed(by: result.head) == true {
                return await revalidated(stored, by: result, sent: sent, now: asked)
            }
            // The 304 is about an answer that is not stored here: the request is sent once more, as if nothing were
            // stored.
            for name in ["If-None-Match", "If-Modified-Since"] { transfer.headers.remove(name) }
            result = try await transferred(transfer)
            if result.isNotModified { throw DownloadError(.httpStatus(304), url: url) }
        }
        // The time of the request, not of the answer, so that nothing is taken for fresher than it is.
        var http = HTTPCacheMetadata(result.head, requestHeaders: sent, credentials: credentials, now: asked)
        // A temporary redirect may lead elsewhere tomorrow, however long its target declares itself fresh.
        if !result.redirectsArePermanent { http = http.requiringRevalidation() }
        var rule = CacheRule(storing: result, http, control: resolved.control, replaces: stored != nil)
        // A hook or an interceptor has made it another user's answer, or a default field has changed since.
        if !http.isShared, !result.isFor(resolved.sender) { rule = .notStored(.unknownUser) }
        if case .notStored(let reason) = rule { subscription.note(.notStored(reason)) }
        return FetchedData(
            data: result.data, origin: .network, http: http, rule: rule, transfer: result.metrics, memory: result.hold,
            mark: mark, claim: rule.isStored && Optional(http).reach == .everywhere ? claim : nil)
    }

    private func revalidated(
        _ stored: FetchedData, by result: DownloadResult, sent: HTTPHeaders, now: Date
    ) async -> FetchedData {
        var http = stored.provenance.http?.merging(
            notModified: result.head, requestHeaders: sent, credentials: credentials, now: now)
        if !result.redirectsArePermanent { http = http?.requiringRevalidation() }
        let isOfUser = result.isFor(resolved.sender)
        var stays = true
        if let http, !http.noStore, isOfUser, resolved.cachePolicy.writes.contains(.diskOriginal),
            let entry = stored.entry
        {
            let entries = resolved.originals.entries
            stays = resolved.key.storageKey(for: http).originalEntryKey == entry.key
            if stays {
                await entries?.updateMetadata(
                    http.encoded(), for: entry.key, replacing: entry.metadata,
                    expiration: resolved.cachePolicy.diskExpiration, reach: Optional(http).reach, claim: claim)
            } else {
                // The answer was for all users and is for one now, or the reverse: it is stored again, in its new
                // place.
                await entries?.forget(entry.key)
            }
        }
        return FetchedData(
            data: stored.data, origin: .revalidated, http: http, rule: .revalidated, transfer: result.metrics,
            isStored: stays, matchesKey: isOfUser, mark: mark)
    }

    private func transferred(_ transfer: DownloadRequest) async throws -> DownloadResult {
        let subscription = subscription
        // Only the newest progress counts on the jobs' thread.
        let arrived = DeliveryQueue<DownloadProgress> { progress in
            JobActor.perform { subscription.send(progress) }
        }
        var transfer = transfer
        let coordinator = resolved.coordinator
        if coordinator.hub.isActive(for: .diskOriginal) || coordinator.configuration.tracer != nil {
            // Attempts are reported only while the pipeline's events are read or logged.
            transfer.observe = { event in
                guard case .retried(let error, let attempt) = event else { return }
                JobActor.perform { subscription.note(.retried(error, attempt: attempt)) }
            }
        }
        subscription.note(.transferStarted)
        let result: DownloadResult
        do {
            result = try await subscription.withTicket { ticket in
                try await configuration.downloader.download(transfer, ticket: ticket) { progress in
                    if arrived.replace(with: progress) { JobActor.perform { arrived.deliver() } }
                }
            }
        } catch {
            arrived.close()
            if let error = error as? DownloadError { subscription.note(.transferFailed(error)) }
            throw ((error as? DownloadError)?.underlying as? BeginningCheck.Refusal)?.reason ?? error
        }
        arrived.deliver()
        arrived.close()
        subscription.note(.transferEnded(TransferSummary(result)))
        return result
    }

    /// The check of the first bytes against the request's limits, if it asks for one.
    private var beginningCheck: BeginningCheck? {
        guard resolved.request.network.stopsAtLimits else { return nil }
        let (coders, limits) = (resolved.coders, resolved.request.decode.limits)
        return BeginningCheck(owner: coders, values: DecodeLimits.all.map { limits[keyPath: $0] }) {
            try coders.checkBeginning($0, limits: limits)
        }
    }

    private func request(sending sent: HTTPHeaders) -> DownloadRequest {
        let options = resolved.request.network
        var transfer = DownloadRequest(url: url, priority: subscription.priority)
        transfer.headers = sent
        // Credentials without a digest are among the header fields.
        if options.credential?.digest != nil { transfer.credential = options.credential }
        transfer.user = options.user
        transfer.hooks = options.hooks
        transfer.bodyBudget = EncodedDataBudget.budget
        transfer.exposesBody = resolved.request.wantsPreviews
        transfer.beginning = beginningCheck
        transfer.timeouts = options.timeouts(over: configuration.downloader.configuration.timeouts)
        transfer.maximumBytes = options.maximumBytes ?? configuration.maximumBytes
        transfer.retry = options.retry(over: configuration.downloader.configuration.retry)
        if resolved.cachePolicy.reads.isEmpty, !transfer.headers.contains("Cache-Control") {
            // A reload also bypasses the caches on the way to the origin.
            transfer.headers.set("Cache-Control", "no-cache")
        }
        for field in stored?.provenance.http?.conditionalHeaders.fields ?? [] {
            transfer.headers.set(field.name, field.value)
        }
        return transfer
    }
}

extension Subscription {
    fileprivate func send(_ progress: DownloadProgress) {
        send(.progress(LoadProgress(received: progress.received, expected: progress.expected)))
        if let body = progress.body { send(.body(body)) }
    }
}

extension DownloadResult {
    /// Whether the result was sent to this user alone.
    fileprivate func isFor(_ user: KeyedHash?) -> Bool { users.allSatisfy { $0 == user } }
}
