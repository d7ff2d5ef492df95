import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonSystem

extension Coordinator {
    /// The source's pixels, before any processor.
    ///
    /// Bytes from the disk that do not decode are removed, and the source is asked once more; bytes from the network are
    /// stored only after they proved to be an image.
    func decoded(_ request: ImageRequest, options: DecodeOptions, demand: Demand) async throws -> DecodedImage {
        let fetched = try await fetched(request, demand: demand)
        do {
            return try await decoded(fetched, request: request, options: options, demand: demand)
        } catch let error as CodecError where fetched.origin == .disk && error.blamesBytes {
            await configuration.cache.disk?.remove(ImageKey.diskKey(of: request.source.key))
            guard request.cache.allowsNetwork else { throw error }
            var again = request
            again.cache.reads.remove(.diskOriginal)
            let fresh = try await self.fetched(again, demand: demand)
            return try await decoded(fresh, request: again, options: options, demand: demand)
        }
    }

    private func decoded(
        _ fetched: FetchedData, request: ImageRequest, options: DecodeOptions, demand: Demand
    ) async throws -> DecodedImage {
        try Task.checkCancellation()
        let coders = configuration.coders
        let started = ContinuousClock.now
        let plan = try await compute(for: demand) { _ in try coders.plan(fetched.data, options: options) }
        let key = DecodeKey(data: ObjectIdentifier(fetched), plan: plan)
        return try await decodes.value(for: key, demand: demand, isolation: self) { coordinator, demand in
            let image = try await coordinator.compute(for: demand) {
                try coders.decode(fetched.data, plan: plan, context: $0)
            }
            await coordinator.storeOriginal(fetched, request: request)
            return DecodedImage(image: image, fetched: fetched, decode: ContinuousClock.now - started)
        }
    }

    /// Hands the bytes to the disk cache. It waits while the writes that are staged there fill their limit, so that a
    /// slow disk slows the loads down instead of filling the memory.
    private func storeOriginal(_ fetched: FetchedData, request: ImageRequest) async {
        guard request.cache.writes.contains(.diskOriginal), fetched.http?.noStore != true,
            let disk = configuration.cache.disk, fetched.claimStore()
        else { return }
        await disk.stage(
            fetched.data, metadata: fetched.http?.encoded() ?? Data(), for: ImageKey.diskKey(of: request.source.key),
            expiration: request.cache.expiration)
    }
}

extension CodecError {
    /// Whether other bytes for the same request might decode: not where a limit or a missing codec refused.
    fileprivate var blamesBytes: Bool {
        switch self {
        case .damaged, .notAnImage: true
        default: false
        }
    }
}
