import Foundation
import HalcyonSystem

/// Shows a credential to one origin, and gets another where it is refused: once for all who were refused with the same,
/// each of whom is tried exactly once more.
///
///     let tokens = CredentialRefresher(origin: api) { _ in .bearer(try await account.newToken()) }
///     configuration.interceptors.append(tokens)
///
/// Requests to other origins, and those that bring a credential or an `Authorization` field of their own, pass untouched.
/// Who asks while a refresh runs waits for it, and whoever waits may be cancelled without the others noticing. A refresh
/// that fails ends all who were refused before it; those who ask later cause another one.
///
/// Caches keep what comes for one user, whatever the token is at the time. A program in which users follow each other, or
/// that wants to find on disk what an earlier run has kept there, gives the `user` a name; several users at the same time
/// need a pipeline and a refresher each, or requests that bring their own credentials.
public final class CredentialRefresher: DownloadInterceptor {
    /// A credential, and how many there were before it.
    private struct Shown: Sendable {
        let credential: Credential?
        let user: String
        let generation: Int
    }

    private enum Failure: Error {
        case download(DownloadError)
        case other(String)

        init(_ error: any Error) {
            self = (error as? DownloadError).map { .download($0) } ?? .other("\(error)")
        }
    }

    private typealias Waiters = [Int: CheckedContinuation<Shown, any Error>]

    private struct State {
        var credential: Credential?
        var user: String
        /// Counts refreshes, also those that failed.
        var generation = 0
        /// Of the last refresh.
        var failure: Failure?
        /// The refresh that runs.
        var refresh: Int?
        var lastID = 0
        var waiters: Waiters = [:]

        var shown: Shown { Shown(credential: credential, user: user, generation: generation) }

        /// What the last refresh says to those who were refused before it.
        var outcome: Result<Shown, any Error> { failure.map { .failure($0) } ?? .success(shown) }

        mutating func newID() -> Int {
            lastID += 1
            return lastID
        }
    }

    /// The refresher whose refresh the task belongs to: its own downloads must not wait for it.
    @TaskLocal private static var refreshing: ObjectIdentifier?

    private let origin: String
    private let refresh: @Sendable (_ refused: Credential?) async throws -> Credential
    private let state: Lock<State>

    /// - Parameters:
    ///   - origin: a URL of the scheme, host and port that the credential is for.
    ///   - credential: what is shown at first; nil, the default, shows nothing until a server answers with 401.
    ///   - user: a name for who shows it, by which caches find again what was kept for the same user. Nil, the default, is a
    ///     name that nobody else has.
    ///   - refresh: gets a new credential, one call at a time, in a task of its own that nobody cancels: it should have a
    ///     limit of time. A `DownloadError` of it ends the downloads as it is, anything else as
    ///     `DownloadError.Reason.refused`. It may use the same downloader, which shows no credential to it then.
    public init(
        origin: URL, credential: Credential? = nil, user: String? = nil,
        refresh: @escaping @Sendable (_ refused: Credential?) async throws -> Credential
    ) {
        self.origin = origin.webOrigin
        self.refresh = refresh
        state = Lock(State(credential: credential, user: user ?? UUID().uuidString))
    }

    /// What is shown now. Set it where the program has got another one by itself, or nil to forget it: a refresh that
    /// runs is of no consequence then, and the user is taken for another one.
    public var credential: Credential? {
        get { state.withLock { $0.credential } }
        set { show(newValue, of: nil) }
    }

    /// Shows another credential, as `credential` does.
    ///
    /// - Parameter user: the name of who shows it; nil is a name that nobody else has.
    public func show(_ credential: Credential?, of user: String?) {
        end(.success(credential), of: nil, user: user ?? UUID().uuidString)
    }

    public func user(of request: DownloadRequest) -> String? {
        isMine(request) ? Self.name(state.withLock { $0.user }, for: request) : nil
    }

    /// With the name that the request has already: neither may be passed over.
    private static func name(_ user: String, for request: DownloadRequest) -> String {
        request.user.map { "\($0) \(user)" } ?? user
    }

    private func isMine(_ request: DownloadRequest) -> Bool {
        request.url.webOrigin == origin && request.credential == nil && !request.headers.contains("Authorization")
    }

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

    /// - Parameter refused: nil takes what there is, unless it is being refreshed.
    private func valid(after refused: Shown?, _ url: URL) async throws -> Shown {
        do {
            return try await waited(after: refused)
        } catch let failure as Failure {
            switch failure {
            case .download(let error): throw error
            case .other(let why): throw DownloadError(.refused("the credential's refresh: \(why)"), url: url)
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
                    // Others were refused with the same before.
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
        // Detached: it is for all who wait, so it takes nothing over from the one who came first.
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

    /// - Parameter refresh: nil where the program has set a credential.
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
