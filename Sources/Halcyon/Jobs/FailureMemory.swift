import Foundation
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

/// The failures of a pipeline that are remembered, by its `RememberedFailures`.
final class FailureMemory: Sendable {
    /// The parts of a request that a server sees, and the coders that decode its answer.
    struct Key: Hashable, Sendable {
        let url: ExactString
        let headers: HTTPHeaders
        let user: KeyedHash?
        let hooks: RequestHooks?
        let coders: Coders
    }

    /// A coder registry, compared by identity. It is retained, so that no other registry gets the same identity.
    struct Coders: Hashable, Sendable {
        let registry: CoderRegistry

        static func == (left: Self, right: Self) -> Bool { left.registry === right.registry }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(registry)) }
    }

    struct Failure {
        let error: ImagePipelineError
        let from: Date
        let until: Date
        /// The number of changes of the registry before its coders failed; nil for the failure of a transfer.
        var generation: Int?
    }

    fileprivate struct State {
        var failures: [Key: Failure] = [:]
        /// The number of times that failures were forgotten on demand.
        var forgets = 0
        /// The time when all failures were forgotten for the last time.
        var allForgotten: Date?
    }

    static let limit = 1_000

    private let rules: RememberedFailures
    private let state = Lock(State())

    init(_ rules: RememberedFailures) {
        self.rules = rules
    }

    var count: Int { state.withLock { $0.failures.count } }

    /// The number of times that failures were forgotten on demand.
    var forgets: Int { state.withLock { $0.forgets } }

    /// Returns the failure of a request. One of decoding is over once a coder was added to the registry or removed from it.
    func failure(_ key: Key, now: Date) -> ImagePipelineError? {
        let generation = key.coders.registry.generation
        return state.withLock { state in
            guard let failure = state.failures[key] else { return nil }
            // After the clock was turned back, the times are meaningless.
            if failure.from <= now, now < failure.until, failure.generation ?? generation == generation {
                return failure.error
            }
            state.failures[key] = nil
            return nil
        }
    }

    /// Remembers the failure of a transfer, if the rules say so.
    ///
    /// - Returns: the failure; nil if it is not remembered.
    func remember(_ error: DownloadError, _ key: Key, source: ImageSource, now: Date) -> Failure? {
        let wrapped = ImagePipelineError.download(source: source.description, error)
        guard rules.isRemembered(wrapped), let until = end(of: error, source: source, now: now) else { return nil }
        let failure = Failure(error: wrapped, from: now, until: until)
        state.withLock { $0.insert(failure, key) }
        return failure
    }

    /// Remembers that a server's bytes could not be decoded, if the rules say so.
    ///
    /// - Parameter generation: the registry's before the coders were chosen.
    func remember(_ error: CodecError, _ key: Key, generation: Int, source: ImageSource, now: Date) {
        let failure = ImagePipelineError.decoding(source: source.description, error)
        guard rules.isRemembered(failure) else { return }
        let end = usualEnd(now)
        state.withLock { $0.insert(Failure(error: failure, from: now, until: end, generation: generation), key) }
    }

    /// Remembers a failure that was found on the disk, if the rules say so.
    ///
    /// - Parameter forgets: `forgets` before the look at the disk.
    /// - Returns: whether the failure is remembered; false also if it was forgotten on demand.
    func restore(_ failure: Failure, _ key: Key, forgets: Int) -> Bool {
        guard rules.isRemembered(failure.error) else { return false }
        return state.withLock { state in
            guard state.forgets == forgets, state.allForgotten.map({ failure.from > $0 }) ?? true else { return false }
            state.insert(failure, key)
            return true
        }
    }

    /// Forgets the failure of a transfer, since bytes have arrived. A failure of decoding stays: whether these bytes
    /// are an image is not known yet.
    func hasArrived(_ key: Key) {
        state.withLock { state in
            if let failure = state.failures[key], failure.generation == nil { state.failures[key] = nil }
        }
    }

    func forget(_ key: Key) {
        state.withLock { $0.failures[key] = nil }
    }

    /// Forgets the failures of one URL on demand.
    func forget(url: ExactString) {
        state.withLock { state in
            state.failures = state.failures.filter { $0.key.url != url }
            state.forgets += 1
        }
    }

    /// Forgets all failures on demand, also those on the disk that are not newer.
    func forgetAll(now: Date) {
        state.withLock { state in
            state.failures = [:]
            state.forgets += 1
            state.allForgotten = now
        }
    }

    /// Returns the end of a failure that the server says nothing about.
    private func usualEnd(_ now: Date) -> Date {
        now + rules.duration.forTimer / .seconds(1)
    }

    /// Returns the time until which a failure is remembered; nil if HTTP prohibits it.
    private func end(of error: DownloadError, source: ImageSource, now: Date) -> Date? {
        guard case .httpStatus(let status) = error.reason else { return usualEnd(now) }
        guard let url = source.url else { return nil }
        let http = HTTPCacheMetadata(
            HTTPResponseHead(url: url, status: status, headers: error.responseHeaders),
            requestHeaders: HTTPHeaders(), now: now)
        if http.noStore || http.noCache || http.variesOnEverything { return nil }
        // Behind a redirect, the answer's freshness is that of another URL.
        guard error.target == DownloadError.target(of: url), let until = http.freshUntil else {
            return usualEnd(now)
        }
        return until
    }
}

extension FailureMemory.State {
    fileprivate mutating func insert(_ failure: FailureMemory.Failure, _ key: FailureMemory.Key) {
        let limit = FailureMemory.limit
        failures[key] = failure
        guard failures.count > limit else { return }
        failures = failures.filter { failure.from < $0.value.until }
        guard failures.count > limit else { return }
        // A tenth is removed at a time, so that sorting costs little for each insertion.
        let oldest = failures.sorted { $0.value.from < $1.value.from }.prefix(limit / 10)
        for entry in oldest { failures[entry.key] = nil }
    }
}

extension FailureMemory.Key {
    /// Creates the key of a request; nil for a local source, and in a pipeline that remembers no failures.
    init?(_ resolved: ResolvedRequest) {
        let rules = resolved.coordinator.configuration.rememberedFailures
        guard case .remote(let url) = resolved.source, rules.duration > .zero else { return nil }
        self.url = Self.text(of: url)
        headers = resolved.sentHeaders
        user = resolved.key.user
        hooks = resolved.request.network.hooks
        coders = FailureMemory.Coders(registry: resolved.coders)
    }

    /// Returns the text of a URL without the user and the fragment, which servers do not see.
    static func text(of url: URL) -> ExactString {
        ExactString((url.hasUser ? url.withoutUser : url).withoutFragment)
    }
}
