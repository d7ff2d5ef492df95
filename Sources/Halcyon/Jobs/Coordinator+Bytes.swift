import Foundation
import HalcyonSystem

extension Coordinator {
    /// The source's encoded bytes, as one of possibly many who ask.
    func bytes(of request: ImageRequest) async throws -> Data {
        try await fetched(request, demand: Demand(priority: request.priority) { _ in }).data
    }

    /// How a response finds its source's encoded bytes: those of the load, else the file, the data or the disk.
    nonisolated func encodedBytes(
        of request: ImageRequest, fetched: FetchedData?
    ) -> @Sendable () async throws -> Data {
        // The bytes only: a fetch may be joined for as long as it lives, and a response can be kept for hours.
        if let data = fetched?.data { return { data } }
        let configuration = self.configuration
        return {
            let limit = request.network.maximumBytes ?? configuration.maximumBytes
            if let local = try await LocalSource.bytes(
                of: request.source, maximumBytes: limit, ticket: WorkTicket(priority: request.priority))
            {
                return local.data
            }
            guard let entry = await configuration.cache.disk?.entry(for: ImageKey.diskKey(of: request.source.key))
            else { throw ImagePipelineError.notInCache(source: request.source.description) }
            return entry.data
        }
    }
}
