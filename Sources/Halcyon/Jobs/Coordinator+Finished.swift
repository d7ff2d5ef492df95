import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// Finished images on disk, for requests that ask for them.
extension Coordinator {
    func finishedImageOnDisk(_ resolved: ResolvedRequest, demand: Demand) async throws -> CachedImage? {
        guard resolved.cache.reads.contains(.diskProcessed), resolved.isProcessed, resolved.isRemote,
            let entry = await diskEntry(resolved.key.processedDiskKey, demand: demand)
        else { return nil }
        try Task.checkCancellation()
        guard let stored = FinishedImage(entry) else { return nil }
        let coders = configuration.coders
        // The request's own limits hold for what was made before as well.
        let decode = resolved.request.decode
        let options = DecodeOptions(color: decode.color, limits: decode.limits)
        do {
            let plan = try await compute(for: demand) { _ in try coders.plan(entry.data, options: options) }
            let pixels = try await compute(for: demand, reserving: plan.workingBytes, of: coders.budget) {
                try coders.decode(entry.data, plan: plan, context: $0)
            }
            var image = Image(bitmap: pixels.bitmap, info: stored.info, animation: pixels.animation)
            image.colorProfile = pixels.colorProfile
            let cached = CachedImage(image: image, encodedBytes: entry.data.count, http: stored.http)
            guard resolved.cache.freshness == .respect else { return cached }
            return cached.answers(at: configuration.clock.now, sending: sentHeaders(resolved)) ? cached : nil
        } catch CodecError.damaged {
            await configuration.cache.disk?.remove(resolved.key.processedDiskKey)
            return nil
        } catch is CodecError {
            return nil
        }
    }

    func storeFinished(_ made: DecodedImage, _ resolved: ResolvedRequest) {
        guard resolved.cache.writes.contains(.diskProcessed), resolved.isProcessed, resolved.isRemote,
            let disk = configuration.cache.disk
        else { return }
        let coders = configuration.coders
        let image = made.image
        let metadata = FinishedImage(info: image.info, http: made.fetched.http).encoded
        stores.add(bytes: image.cost) {
            // A result that cannot be encoded is only not cached.
            let ticket = WorkTicket(priority: .veryLow)
            let data = try? await ExecutionDomains.cpu.run(ticket: ticket) { context in
                try coders.encode(image, as: .png, context: context)
            }
            guard let data else { return }
            await disk.stage(
                data, metadata: metadata, for: resolved.key.processedDiskKey, expiration: resolved.cache.expiration)
        }
    }
}
