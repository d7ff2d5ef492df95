import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonSystem

extension Coordinator {
    /// The source's pixels, before any processor.
    ///
    /// Bytes from the disk that do not decode are removed, and the source is asked once more; bytes from the network are
    /// stored only after they proved to be an image.
    func decoded(_ resolved: ResolvedRequest, options: DecodeOptions, demand: Demand) async throws -> DecodedImage {
        let fetched = try await fetched(resolved, demand: demand)
        do {
            return try await decoded(fetched, resolved, options: options, demand: demand)
        } catch let error as CodecError where fetched.cameFromDisk && error.blamesBytes {
            fetched.giveUpMemory()
            await removeOriginal(resolved)
            guard resolved.cache.allowsNetwork else { throw error }
            let again = resolved.changing { $0.cache.reads.remove(.diskOriginal) }
            let fresh = try await self.fetched(again, demand: demand)
            return try await decoded(fresh, again, options: options, demand: demand)
        }
    }

    private func decoded(
        _ fetched: FetchedData, _ resolved: ResolvedRequest, options: DecodeOptions, demand: Demand
    ) async throws -> DecodedImage {
        do {
            let made = try await made(of: fetched, resolved, options: options, demand: demand)
            rememberDecode(of: fetched, resolved, nil)
            return made
        } catch {
            rememberDecode(of: fetched, resolved, error)
            // Who asks again asks for other bytes, even if somebody still works with these.
            if error is CodecError { forgetFetch(fetched, FetchKey(resolved)) }
            throw error
        }
    }

    private func made(
        of fetched: FetchedData, _ resolved: ResolvedRequest, options: DecodeOptions, demand: Demand
    ) async throws -> DecodedImage {
        try Task.checkCancellation()
        demand.send(.arrived)
        let coders = coders(for: resolved)
        let started = ContinuousClock.now
        let plan = try await compute(for: demand) { _ in try coders.plan(fetched.data, options: options) }
        let key = DecodeKey(data: ObjectIdentifier(fetched), coders: ObjectIdentifier(coders), plan: plan)
        let made = try await decodes.value(for: key, demand: demand, isolation: self) { coordinator, demand in
            let image = try await coordinator.compute(
                for: demand, reserving: plan.workingBytes, of: coders.budget
            ) {
                try coders.decode(fetched.data, plan: plan, context: $0)
            }
            let decode = ContinuousClock.now - started
            demand.note(.decoded(image.size, decode))
            return DecodedImage(image: image, fetched: fetched, decode: decode)
        }
        keep(fetched, of: made.image, resolved, demand: demand)
        forgetFetch(fetched, FetchKey(resolved))
        return made
    }

    /// Removes bytes that are no image, wherever they were.
    func removeOriginal(_ resolved: ResolvedRequest) async {
        await resolved.originals.disk?.remove(resolved.key.originalDiskKey)
        if resolved.key.user != nil { await resolved.originals.disk?.remove(resolved.key.of(nil).originalDiskKey) }
    }

    func coders(for resolved: ResolvedRequest) -> CoderRegistry { resolved.request.coders ?? configuration.coders }
}

extension FetchedData {
    fileprivate var cameFromDisk: Bool { [.disk, .revalidated, .stale].contains(origin) }
}
