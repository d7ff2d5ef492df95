import Foundation
import HalcyonCodecs
import HalcyonNetwork

extension Coordinator {
    /// Asks the network, unless it is remembered what that ends in.
    ///
    /// - Throws: `ImagePipelineError.remembered`, and what `download` throws.
    func rememberingFailures(
        of resolved: ResolvedRequest, demand: Demand,
        _ download: (isolated Coordinator, Demand) async throws -> FetchedData
    ) async throws -> FetchedData {
        guard let key = failureKey(of: resolved) else { return try await download(self, demand) }
        // Who reloads wants to know how it is now.
        if !resolved.request.network.retriesFailures, !resolved.cache.reads.isEmpty,
            let error = failures.failure(key, now: configuration.clock.now)
        {
            throw ImagePipelineError.remembered(error)
        }
        do {
            let fetched = try await download(self, demand)
            failures.hasArrived(key)
            return fetched
        } catch let error as DownloadError {
            failures.remember(error, key, source: resolved.source, now: configuration.clock.now)
            throw error
        }
    }

    /// What a decode says of the bytes that a server gave.
    func rememberDecode(of fetched: FetchedData, _ resolved: ResolvedRequest, _ error: (any Error)?) {
        guard fetched.origin == .network, let key = failureKey(of: resolved) else { return }
        switch error {
        case nil: failures.forget(key)
        case let error as CodecError:
            failures.remember(error, key, source: resolved.source, now: configuration.clock.now)
        default: break
        }
    }

    private func failureKey(of resolved: ResolvedRequest) -> FailureMemory.Key? {
        guard configuration.remembersFailures else { return nil }
        return FailureMemory.Key(resolved, headers: sentHeaders(resolved), coders: coders(for: resolved))
    }
}
