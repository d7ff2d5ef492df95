import Foundation
import Halcyon
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem
import ImageURLs
import NIOPosix

/// The sources of jobs: what may be asked for, the facts about it, and its bytes.
///
/// The facts are in memory for as long as the source is fresh, at most five minutes where its server says nothing, so that an answer
/// which is cached needs neither the network nor the source's bytes. All that is made of a source is kept by the hash of its bytes:
/// bytes that change never meet what was made of the former ones.
final class Originals: Sendable {
    /// A source of a job, and the request for its bytes.
    struct Address: Sendable {
        let request: ImageRequest
        /// The key of the facts; nil if they are those of one client.
        let key: String?
        let lastModified: Date?
    }

    /// The reason why work on a source did not get its bytes.
    enum Failure: Error, Hashable, Sendable {
        /// The source has other bytes than those whose facts were used.
        case changed
        /// The bytes cannot be held while the work waits.
        case noMemory
        /// No cache has the bytes any more: they are to be fetched before the work takes a place.
        case notKept

        /// - Parameter error: the error of the work, which may have the failure in it.
        init?(_ error: any Error) {
            let found = (error as? ImagePipelineError)?.underlying ?? error
            guard let failure = found as? Failure else { return nil }
            self = failure
        }
    }

    private let pipeline: ImagePipeline
    private let configuration: ServerConfiguration.Source
    let rules: SourceRules
    private let folder: SourceFolder?
    /// The places of transfers.
    let transfers: CostQueue<String>
    /// The places at each host before them; nil if one host may have them all.
    let hosts: HostQueues?
    /// The places of look-ups in the caches, each of which has a source's bytes in memory.
    private let lookups: CostQueue<UUID>
    private let facts: MemoryCache<String, SourceFacts>
    private let time: TimeSource
    /// The bytes that no cache keeps while work waits, and those of answers that clients have not taken yet.
    private let waitingBytes: HeldBytes
    let sentBytes: HeldBytes

    /// The time that facts are used for where a source's server says nothing.
    private static let usualTime = 300.0
    /// The bytes that may be held at the same time for one of these reasons, unless a single source may be longer.
    private static let maximumHeldBytes = 256 << 20

    /// - Throws: `ServerConfigurationError`, `ConfigurationError`.
    init(_ pipeline: ImagePipeline, _ configuration: ServerConfiguration, rules: SourceRules, time: TimeSource) throws {
        (self.pipeline, self.configuration, self.rules, self.time) = (pipeline, configuration.source, rules, time)
        folder = try configuration.source.folder.map {
            try SourceFolder(path: $0, maximumBytes: configuration.source.maximumBytes)
        }
        let maximum = max(Self.maximumHeldBytes, configuration.source.maximumBytes)
        (waitingBytes, sentBytes) = (HeldBytes(maximum: maximum), HeldBytes(maximum: maximum))
        let queue = configuration.queue
        transfers = CostQueue(
            limits: CostQueueLimits(
                working: queue.transfers, waitingCount: queue.waiting, waitingCost: queue.waiting,
                waitingTime: queue.waitingTime), time: time)
        lookups = CostQueue(
            limits: CostQueueLimits(
                working: queue.transfers, waitingCount: queue.waiting, waitingCost: queue.waiting,
                waitingTime: queue.waitingTime), time: time)
        let share = queue.transfersPerHost
        let limits = CostQueueLimits(
            working: share, waitingCount: queue.waiting, waitingCost: queue.waiting, waitingTime: queue.waitingTime)
        hosts = share < queue.transfers ? HostQueues(limits: limits, time: time) : nil
        facts = MemoryCache(
            configuration: MemoryCacheConfiguration(costLimit: 32 << 20, timeToLive: nil), timeSource: time)
    }

    /// Returns where a job's source is.
    ///
    /// - Parameter headers: the fields of the client that are passed on.
    /// - Throws: `ImageURLError.source`; `SourceFolder.Failure`.
    func address(of job: ImageJob, headers: HTTPHeaders) async throws -> Address {
        let url = try rules.resolve(job.source)
        var request: ImageRequest
        var lastModified: Date?
        var name = "\(url)"
        if url.scheme == "local" {
            guard let folder, let path = url.path.removingPercentEncoding else {
                throw ImageURLError.source(.scheme)
            }
            let source = try await folder.source(at: String(path.drop { $0 == "/" }))
            request = ImageRequest(.provider(source))
            (lastModified, name) = (source.lastModified, source.cacheKey)
        } else {
            if url.scheme == "s3" { _ = try S3Object(url) }
            request = ImageRequest(.remote(try Self.url(url)))
            // Fields of clients are none of a store's.
            if url.scheme != "s3" { request.network.headers = headers }
        }
        request.decode = JobPlan.decodeOptions(job, configuration)
        request.network.stopsAtLimits = true
        request.network.totalTimeout = configuration.timeout
        request.network.maximumBytes = min(
            job.limits.maxBytes ?? configuration.maximumBytes, configuration.maximumBytes)
        // Finished images are answers, which are kept encoded.
        request.cachePolicy.writes.remove(.memory)
        let limits = request.decode.limits
        let key = "\(name) \(limits.maximumPixels) \(limits.maximumFrames) \(request.network.maximumBytes ?? 0)"
        return Address(
            request: request, key: request.network.headers.isEmpty ? key : nil, lastModified: lastModified)
    }

    private static func url(_ url: SourceURL) throws -> URL {
        guard let parsed = URL(string: url.description) else { throw ImageURLError.source(.character) }
        return parsed
    }

    /// Whether a file is still the one of an address; true for all other sources.
    func isCurrent(_ address: Address) -> Bool {
        guard case .provider(let provider) = address.request.source, let source = provider as? FolderSource else {
            return true
        }
        return source.isCurrent
    }

    /// The facts of a source that are in memory and still hold.
    func knownFacts(at address: Address) -> SourceFacts? {
        address.key.flatMap { facts.value(for: $0, extending: .none) }
    }

    /// Returns the facts of a source: those in memory, else those of its present bytes.
    ///
    /// - Parameters:
    ///   - check: called before a transfer that nobody else waits for waits for its place; throws if its bytes would be of no use.
    ///   - begin: called in that place, before the transfer; throws as `check` does.
    /// - Throws: `ImagePipelineError`, `CostQueueRefusal`, `CancellationError`; the errors of `check` and `begin`.
    func facts(
        at address: Address, beforeWaiting check: () throws -> Void = {}, beforeTransfer begin: () throws -> Void = {}
    ) async throws -> SourceFacts {
        if let known = knownFacts(at: address) { return known }
        // Each in a place of its own: those behind the first one find its facts.
        let kept: SourceFacts? = try await lookups.withPlace(for: UUID(), cost: 1) {
            if let known = knownFacts(at: address) { return known }
            let kept = await pipeline.cachedEncodedImage(for: address.request, as: .original)
            return if let kept { try await remember(kept, at: address) } else { nil }
        }
        if let kept { return kept }
        try Task.checkCancellation()
        let isNew = address.key.map { !transfers.has($0) } ?? true
        if isNew { try check() }
        return try await transferred(address, beforeTransfer: { if isNew { try begin() } }) {
            try await remember($0, at: address)
        }
    }

    private func key(of address: Address) -> String { address.key ?? UUID().uuidString }

    /// Gets the source's own bytes, in a place among the transfers with its host and one among all, which is held until `body` has
    /// looked at them: the workers that read headers may all be busy, and nothing waits for them without a place.
    ///
    /// - Parameter begin: called in the place, before the transfer.
    private func transferred<Value>(
        _ address: Address, beforeTransfer begin: () throws -> Void = {},
        _ body: @Sendable (EncodedImage) async throws -> Value
    ) async throws -> Value {
        let key = key(of: address)
        nonisolated(nonsending) func transfer() async throws -> Value {
            try await transfers.withPlace(for: key, cost: 1) {
                try begin()
                return try await body(try await pipeline.encodedImage(for: address.request, as: .original))
            }
        }
        guard let hosts, case .remote(let url) = address.request.source, let host = url.host() else {
            return try await transfer()
        }
        // All buckets are at one store. No host has a colon and no brackets.
        let place = url.scheme == "s3" ? "s3:" : host.lowercased()
        return try await hosts.withPlace(at: place, for: key) { try await transfer() }
    }

    private func remember(_ original: EncodedImage, at address: Address) async throws -> SourceFacts {
        let (coders, isolation) = (pipeline.configuration.coders, pipeline.configuration.isolation)
        // A worker may be busy, and no thread that tasks need is to wait for it.
        let info = try await NIOThreadPool.singleton.runIfActive {
            try coders.probe(original.data, isolation: isolation)
        }
        let freshness = original.freshness
        let isCached = pipeline.cache.disk != nil || !pipeline.cache.stores.isEmpty
        let isKept = isCached && !freshness.isNotStored
        let isLocal = address.lastModified != nil
        let seconds = min(Double(freshness.maximumAge ?? .max), Self.usualTime)
        let isUsable = isKept && !freshness.requiresRevalidation && seconds >= 1
        let found = SourceFacts(
            hash: try await SourceFacts.hash(of: original.data), info: info, freshness: freshness, time: time.now,
            lastModified: address.lastModified, original: isUsable || isLocal ? nil : original)
        if let key = address.key, isUsable, !freshness.isPrivate {
            facts.insert(found, for: key, cost: 1024, expiration: .seconds(seconds))
        }
        return found
    }

    /// Returns the source's own bytes, which are those of its facts.
    ///
    /// - Throws: `Failure.changed` if the source has others by now, whose format may be another one too. The facts are forgotten then.
    func original(of facts: SourceFacts, at address: Address) async throws -> EncodedImage {
        if let original = facts.original { return original }
        let original = try await transferred(address) { $0 }
        guard try await SourceFacts.hash(of: original.data) == facts.hash else {
            if let key = address.key { self.facts.remove(key) }
            throw Failure.changed
        }
        return original
    }

    // MARK: - Bytes

    /// Returns the source's own bytes if they are at hand: held, in a cache or in a file.
    ///
    /// - Throws: `Failure.notKept`, `Failure.changed`. The source's server is not waited for.
    fileprivate func keptOriginal(of facts: SourceFacts, at address: Address) async throws -> EncodedImage {
        if facts.original != nil || address.lastModified != nil { return try await original(of: facts, at: address) }
        guard let kept = await pipeline.cachedEncodedImage(for: address.request, as: .original),
            try await SourceFacts.hash(of: kept.data) == facts.hash
        else {
            try Task.checkCancellation()
            throw Failure.notKept
        }
        return kept
    }

    /// Returns a request for the work on bytes that are known by their hash.
    func request(for facts: SourceFacts, at address: Address) -> ImageRequest {
        let bytes = OriginalBytes(facts: facts, address: address, originals: self)
        var request = ImageRequest(.provider(bytes))
        request.cachePolicy.writes.remove(.memory)
        request.network.maximumBytes = address.request.network.maximumBytes
        return request
    }

    /// Counts bytes that no cache keeps while work with them waits.
    ///
    /// - Throws: `Failure.noMemory`.
    func holding<Value>(
        _ facts: SourceFacts, _ work: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let count = facts.original?.data.count ?? 0
        guard count > 0 else { return try await work() }
        let share = try waitingBytes.share(count)
        defer { withExtendedLifetime(share) {} }
        return try await work()
    }
}

/// The bytes of a source, which the caches know by their hash alone.
private struct OriginalBytes: ImageDataProvider {
    let facts: SourceFacts
    let address: Originals.Address
    let originals: Originals

    var cacheKey: String { "content:\(facts.hash)" }
    /// Encodings alone: the bytes are kept under the source's own key.
    var diskLevels: CacheLevels { .diskProcessed }

    func data() async throws -> Data {
        try await originals.keptOriginal(of: facts, at: address).data
    }
}
