import Foundation
import HalcyonSystem

/// An interceptor that sends a credential to one origin and gets a new one when the server refuses it: one refresh for
/// all requests that were refused with the same credential, each of which is tried exactly once more.
///
///     let tokens = CredentialRefresher(origin: api) { _ in .bearer(try await account.newToken()) }
///     configuration.interceptors.append(tokens)
///
/// Requests to other origins, and those that have a credential or an `Authorization` field of their own, pass
/// unchanged. Requests that arrive during a refresh wait for it, and each of them can be cancelled without an effect on
/// the others. A refresh that fails ends all requests that were refused before it; later ones start another refresh.
///
/// Caches keep responses for one user, whatever the token is at the time. A program in which one user follows another,
/// or that wants to find on disk what an earlier run stored there, names the `user`. Several users at the same time
/// need a pipeline and a refresher each, or requests that carry their own credentials.
public final class CredentialRefresher: DownloadInterceptor {
    /// A credential, its user, and the value of `State.generation` when it was read.
    private struct Shown: Sendable {
        let credential: Credential?
        let user: String
        let generation: Int
    }

    private enum Failure: Error {
        case download(DownloadError)
        case other(any Error)

        init(_ error: any Error) {
            self = (error as? DownloadError).map { .download($0) } ?? .other(error)
        }
    }

    private typealias Waiters = [Int: CheckedContinuation<Shown, any Error>]

    private struct State {
        var credential: Credential?
        var user: String
        /// The number of refreshes, including those that failed, and of credentials that the program has set.
        var generation = 0
        /// The failure of the last refresh.
        var failure: Failure?
        /// The ID of the running refresh.
        var refresh: Int?
        var lastID = 0
        var waiters: Waiters = [:]

        var shown: Shown { Shown(credential: credential, user: user, generation: generation) }

        /// The result of the last refresh for the requests that were refused before it.
        var outcome: Result<Shown, any Error> { failure.map { .failure($0) } ?? .success(shown) }

        mutating func newID() -> Int {
            lastID += 1
            return lastID
        }
    }

    /// The refresher whose refresh the task belongs to: downloads made by the refresh itself must not wait for it.
    @TaskLocal private static var refreshing: ObjectIdentifier?

    private let origin: String
    private let refresh: @Sendable (_ refused: Credential?) async throws -> Credential
    private let state: Lock<State>

    /// Creates a refresher.
    ///
    /// - Parameters:
    ///   - origin: A URL with the scheme, host and port that the credential is for.
    ///   - credential: The first credential; nil, the default, sends none until a server answers with 401.
    ///   - user: A name for the user of the credential, by which caches find the responses that they stored for the
    ///     same user. Nil, the default, is a unique name.
    ///   - refresh: Gets a new credential, one call at a time, in a task of its own that is never cancelled: it should
    ///     have a timeout. If it throws a `DownloadError`, the downloads end with it, with any other error as
    ///     `DownloadError.Reason.refused` and this error as `underlying`. It may use the same downloader, which sends no credential for it then.
    public init(
        origin: URL, credential: Credential? = nil, user: String? = nil,
        refresh: @escaping @Sendable (_ refused: Credential?) async throws -> Credential
    ) {
        self.origin = origin.webOrigin
        self.refresh = refresh
        state = Lock(State(credential: credential, user: user ?? UUID().uuidString))
    }

    /// The current credential. Set it when the program has got another one by itself, or to nil to forget it: a running
    /// refresh then has no effect, and the user counts as another one.
    public var credential: Credential? {
        get { state.withLock { $0.credential } }
        set { show(newValue, of: nil) }
    }

    /// Replaces the credential, as setting `credential` does.
    ///
    /// - Parameter user: The name of the credential's user; nil is a unique name.
    public func show(_ credential: Credential?, of user: String?) {
        end(.success(credential), of: nil, user: user ?? UUID().uuidString)
    }

    public func user(of request: DownloadRequest) -> String? {
        isMine(request) ? Self.name(state.withLock { $0.user }, for: request) : nil
    }

    /// Returns the name combined with the one that the request already has: neither may be ignored.
    private static func name(_ user: String, for request: DownloadRequest) -> String {
        request.user.map { "\($0) \(user)" } ?? user
    }

    private func isMine(_ request: DownloadRequest) -> Bool {
        request.url.webOrigin == origin && request.credential == nil && !request.headers.contains("Authorization")
    }

    /// Sends the current credential with a request to the origin. If the server refuses it, a refresh provides another,
    /// and the request is sent once more.
    public func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
        guard isMine(request), Self.refreshing != ObjectIdentifier(self) else { return try await next(request) }
        let original = request
        var request = request
        let shown = try await valid(after: nil, request.url)
        (request.credential, request.user) = (shown.credential, Self.name(shown.user, for: original))
        do {
            return try await next(request)
        } catch let error as DownloadError where Self.isRefusal(error, of: shown) {
            let renewed = try await valid(after: shown, request.url)
            (request.credential, request.user) = (renewed.credential, Self.name(renewed.user, for: original))
            return try await next(request)
        }
    }

    private static func isRefusal(_ error: DownloadError, of shown: Shown) -> Bool {
        error.reason == .unauthorized || shown.credential == nil && error.reason == .httpStatus(401)
    }

    /// Returns a valid credential, after waiting for a running refresh.
    ///
    /// - Parameter refused: The credential that was refused; nil returns the current one, unless it is being refreshed.
    private func valid(after refused: Shown?, _ url: URL) async throws -> Shown {
        do {
            return try await waited(after: refused)
        } catch let failure as Failure {
            switch failure {
            case .download(let error): throw error
            case .other(let error):
                throw DownloadError(.refused("the credential's refresh: \(error)"), url: url, underlying: error)
            }
        }
    }

    private func waited(after refused: Shown?) async throws -> Shown {
        let id = state.withLock { $0.newID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { enter(id, $0, after: refused) }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func enter(_ id: Int, _ continuation: CheckedContinuation<Shown, any Error>, after refused: Shown?) {
        enum Answer {
            case known(Result<Shown, any Error>)
            case wait
            case refresh(Int, refused: Credential?)
        }
        let answer = state.withLock { state -> Answer in
            if Task.isCancelled { return .known(.failure(CancellationError())) }
            if state.refresh == nil {
                guard let refused else { return .known(.success(state.shown)) }
                if state.generation != refused.generation {
                    // Another request that was refused with the same credential has refreshed it.
                    return .known(state.outcome)
                }
            }
            state.waiters[id] = continuation
            guard state.refresh == nil else { return .wait }
            let refresh = state.newID()
            state.refresh = refresh
            return .refresh(refresh, refused: state.credential)
        }
        switch answer {
        case .known(let result): continuation.resume(with: result)
        case .wait: break
        case .refresh(let id, let refused): start(id, refused)
        }
    }

    private func start(_ id: Int, _ refused: Credential?) {
        // Detached: the refresh serves all waiters, so it inherits nothing from the first one.
        Task.detached {
            await Self.$refreshing.withValue(ObjectIdentifier(self)) {
                do {
                    self.end(.success(try await self.refresh(refused)), of: id)
                } catch {
                    self.end(.failure(Failure(error)), of: id)
                }
            }
        }
    }

    /// Ends a refresh and resumes its waiters.
    ///
    /// - Parameter refresh: The ID of the refresh; nil if the program has set a credential.
    private func end(_ result: Result<Credential?, Failure>, of refresh: Int?, user: String? = nil) {
        let (waiters, answer) = state.withLock { state -> (Waiters, Result<Shown, any Error>) in
            guard refresh == nil || state.refresh == refresh else { return ([:], .success(state.shown)) }
            state.refresh = nil
            state.generation += 1
            if let user { state.user = user }
            switch result {
            case .success(let credential): (state.credential, state.failure) = (credential, nil)
            case .failure(let failure): state.failure = failure
            }
            defer { state.waiters = [:] }
            return (state.waiters, state.outcome)
        }
        for waiter in waiters.values { waiter.resume(with: answer) }
    }
}
