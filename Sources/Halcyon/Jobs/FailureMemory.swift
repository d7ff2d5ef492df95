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

    private struct Failure {
        let error: ImagePipelineError
        let from: Date
        let until: Date

        var isOfDecoding: Bool {
            if case .decoding = error { true } else { false }
        }
    }

    static let limit = 1_000

    private let rules: RememberedFailures
    private let failures = Lock<[Key: Failure]>([:])

    init(_ rules: RememberedFailures) {
        self.rules = rules
    }

    var count: Int { failures.withLock { $0.count } }

    func failure(_ key: Key, now: Date) -> ImagePipelineError? {
        failures.withLock { failures in
            guard let failure = failures[key] else { return nil }
            // After the clock was turned back, the times are meaningless.
            if failure.from <= now, now < failure.until { return failure.error }
            failures[key] = nil
            return nil
        }
    }

    /// Remembers the failure of a transfer, if the rules say so.
    func remember(_ error: DownloadError, _ key: Key, source: ImageSource, now: Date) {
        let failure = ImagePipelineError.download(source: source.description, error)
        guard rules.isRemembered(failure), let until = end(of: error, source: source, now: now) else { return }
        insert(Failure(error: failure, from: now, until: until), key)
    }

    /// Remembers that a server's bytes could not be decoded, if the rules say so.
    func remember(_ error: CodecError, _ key: Key, source: ImageSource, now: Date) {
        let failure = ImagePipelineError.decoding(source: source.description, error)
        guard rules.isRemembered(failure) else { return }
        insert(Failure(error: failure, from: now, until: usualEnd(now)), key)
    }

    /// Forgets the failure of a transfer, since bytes have arrived. A failure of decoding stays: whether these bytes
    /// are an image is not known yet.
    func hasArrived(_ key: Key) {
        failures.withLock { failures in
            if failures[key]?.isOfDecoding == false { failures[key] = nil }
        }
    }

    func forget(_ key: Key) {
        failures.withLock { $0[key] = nil }
    }

    /// Forgets the failures of one URL, or all.
    ///
    /// - Parameter url: the URL; nil for all failures.
    func forget(url: ExactString?) {
        failures.withLock { failures in
            failures = url.map { url in failures.filter { $0.key.url != url } } ?? [:]
        }
    }

    private func insert(_ failure: Failure, _ key: Key) {
        failures.withLock { failures in
            failures[key] = failure
            guard failures.count > Self.limit else { return }
            failures = failures.filter { failure.from < $0.value.until }
            guard failures.count > Self.limit else { return }
            // A tenth is removed at a time, so that sorting costs little for each insertion.
            let oldest = failures.sorted { $0.value.from < $1.value.from }.prefix(Self.limit / 10)
            for entry in oldest { failures[entry.key] = nil }
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

extension FailureMemory.Key {
    /// Creates the key of a request; nil for a local source, and in a pipeline that remembers no failures.
    init?(_ resolved: ResolvedRequest) {
        guard case .remote(let url) = resolved.source, resolved.coordinator.configuration.remembersFailures else {
            return nil
        }
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
