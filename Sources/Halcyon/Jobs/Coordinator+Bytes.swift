import Foundation
import HalcyonSystem

extension Coordinator {
    /// The source's encoded bytes, as one of possibly many who ask.
    func bytes(of resolved: ResolvedRequest) async throws -> Data {
        try await recorded(
            resolved.source, priority: resolved.request.priority, result: { ($0.origin, $0.rule, $0.data.count) }
        ) { coordinator, demand in
            try await coordinator.fetchedWithAlternatives(resolved, demand: demand)
        }.value.data
    }

    private func fetchedWithAlternatives(_ resolved: ResolvedRequest, demand: Demand) async throws -> FetchedData {
        try await withAlternatives(to: resolved, demand: demand) { coordinator, resolved, demand in
            do {
                return try await coordinator.fetched(resolved, demand: demand)
            } catch ImagePipelineError.remembered(.decoding) {
                // Bytes are wanted, be they an image or not.
                let again = resolved.changing { $0.network.retriesFailures = true }
                return try await coordinator.fetched(again, demand: demand)
            }
        }
    }

    /// How a response finds its source's encoded bytes: those of the load, else the file, the data or the disk.
    nonisolated func encodedBytes(
        of resolved: ResolvedRequest, fetched: FetchedData?
    ) -> @Sendable () async throws -> Data {
        // The bytes only: a fetch may be joined for as long as it lives, and a response can be kept for hours.
        if let data = fetched?.data { return { data } }
        return {
            let ticket = WorkTicket(priority: resolved.request.priority)
            if let local = try await self.localBytes(of: resolved, ticket: ticket) { return local.data }
            guard let stored = await self.storedOriginal(resolved, ticket: ticket) else {
                throw ImagePipelineError.notInCache(source: resolved.source.description)
            }
            return stored.data
        }
    }

    nonisolated func localBytes(of resolved: ResolvedRequest, ticket: WorkTicket) async throws -> FetchedData? {
        if case .provider = resolved.source, !resolved.cache.allowsNetwork {
            throw ImagePipelineError.notInCache(source: resolved.source.description)
        }
        return try await LocalSource.bytes(
            of: resolved.source,
            // A key of the request's own says nothing of the file's content.
            key: resolved.request.cacheKey == nil ? resolved.key.source : nil,
            maximumBytes: resolved.request.network.maximumBytes ?? configuration.maximumBytes, ticket: ticket)
    }
}
