import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork

/// The failures that the pipeline remembers, in the way of a fetch.
extension FetchJob {
    private var failures: FailureMemory { resolved.coordinator.failures }
    private var configuration: ImagePipeline.Configuration { resolved.coordinator.configuration }

    /// The disk that keeps failures; nil if none does.
    private var disk: DiskCache? { configuration.rememberedFailures.keepsOnDisk ? resolved.originals.disk : nil }

    /// Throws `ImagePipelineError.remembered` if the request's failure is remembered. A reload ignores it, since it asks
    /// for the present state.
    func throwRemembered(_ url: URL, _ key: FailureMemory.Key) async throws {
        let reads = resolved.cachePolicy.reads
        guard !resolved.request.network.retriesFailures, !reads.isEmpty else { return }
        let (now, forgets) = (configuration.clock.now, failures.forgets)
        if let error = failures.failure(key, now: now) { throw ImagePipelineError.remembered(error) }
        guard let disk, !reads.isDisjoint(with: .disk) else { return }
        let found = await subscription.withTicket {
            await FailureEntry.find(key, url, in: disk, now: now, ticket: $0)
        }
        try Task.checkCancellation()
        if let found, failures.restore(found, key, forgets: forgets) {
            throw ImagePipelineError.remembered(found.error)
        }
    }

    /// Remembers the failure of the transfer, if the rules say so.
    func remember(_ error: DownloadError, _ key: FailureMemory.Key) {
        let failure = failures.remember(error, key, source: resolved.source, now: configuration.clock.now)
        guard let failure, let disk, !resolved.cachePolicy.writes.isDisjoint(with: .disk), !resolved.control.noStore
        else { return }
        let credentials = configuration.downloader.configuration.credentialFields
        FailureEntry(failure, key, credentials: credentials)?.store(in: disk, for: key)
    }

    /// Remembers that the bytes cannot be decoded, if the rules say so.
    ///
    /// - Parameter generation: the registry's before the coders were chosen.
    static func remember(_ error: CodecError, _ key: FailureMemory.Key, _ generation: Int, of resolved: ResolvedRequest)
    {
        let coordinator = resolved.coordinator
        coordinator.failures.remember(
            error, key, generation: generation, source: resolved.source, now: coordinator.configuration.clock.now)
    }

    /// Forgets the failure of the transfer, since bytes have arrived.
    func forgetFailure(_ key: FailureMemory.Key) async {
        failures.hasArrived(key)
        if let disk, key.isForAll { await disk.remove(FailureEntry.diskKey(key.url)) }
    }
}
