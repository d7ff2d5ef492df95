import Foundation
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

/// The failures of a pipeline that a new attempt would only repeat: missing resources, bytes that are not an image, and
/// servers that cannot be trusted.
///
/// Failures that may pass by themselves are not remembered: no network, a timeout, a host that is not found or refuses
/// the connection, an error of the server itself (5xx).
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
        let isOfDecoding: Bool
    }

    /// The time, in seconds, for which a failure is remembered if the server declares none.
    static let usual: TimeInterval = 60
    static let limit = 1_000

    private let failures = Lock<[Key: Failure]>([:])

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

    /// Remembers the failure of a transfer, if a new attempt would only repeat it.
    func remember(_ error: DownloadError, _ key: Key, source: ImageSource, now: Date) {
        guard let until = Self.end(of: error, source: source, now: now) else { return }
        let failure = Failure(
            error: .download(source: source.description, error), from: now, until: until, isOfDecoding: false)
        insert(failure, key)
    }

    /// Remembers that a server's bytes are not an image.
    func remember(_ error: CodecError, _ key: Key, source: ImageSource, now: Date) {
        guard error.blamesBytes else { return }
        let failure = Failure(
            error: .decoding(source: source.description, error), from: now, until: now + Self.usual, isOfDecoding: true)
        insert(failure, key)
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

    private static func end(of error: DownloadError, source: ImageSource, now: Date) -> Date? {
        switch error.reason {
        case .tls: return now + usual
        case .httpStatus(404), .httpStatus(410): break
        default: return nil
        }
        guard let url = source.url else { return nil }
        let http = HTTPCacheMetadata(
            HTTPResponseHead(url: url, status: 404, headers: error.responseHeaders), requestHeaders: HTTPHeaders(),
            now: now)
        if http.noStore || http.noCache || http.variesOnEverything { return nil }
        // Behind a redirect, the answer's freshness is that of another URL.
        guard error.target == DownloadError.target(of: url), let until = http.freshUntil else { return now + usual }
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
