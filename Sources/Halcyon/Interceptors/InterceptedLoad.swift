import HalcyonSystem

/// The load of one caller's request through the pipeline's interceptors, each of whose calls of `next` is a `RequestLoad`.
@JobActor
final class InterceptedLoad {
    private let resolved: ResolvedRequest
    private let subscription: Subscription
    private var onEnd: (@JobActor (Result<ImageResponse, any Error>) -> Void)?
    private var chain: Task<Void, Never>?
    /// The loads that interceptors have begun, and that have not ended.
    private var loads: [Subscription] = []

    private init(_ resolved: ResolvedRequest, _ subscription: Subscription) {
        self.resolved = resolved
        self.subscription = subscription
    }

    /// Begins a load.
    ///
    /// - Parameter end: called once: with the result of the outermost interceptor, or with `CancellationError` as soon as the
    ///   subscription is cancelled.
    static func begin(
        _ resolved: ResolvedRequest, for subscription: Subscription,
        end: @escaping @JobActor (Result<ImageResponse, any Error>) -> Void
    ) {
        InterceptedLoad(resolved, subscription).run(end)
    }

    /// Returns the response, or throws, as `begin` ends, or once the awaiting task is cancelled.
    static func response(to resolved: ResolvedRequest, for subscription: Subscription) async throws -> ImageResponse {
        let load = InterceptedLoad(resolved, subscription)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                load.run { continuation.resume(with: $0) }
            }
        } onCancel: {
            // The load has begun before the actor can run this, or never begins.
            JobActor.perform { load.cancel() }
        }
    }

    private func run(_ onEnd: @escaping @JobActor (Result<ImageResponse, any Error>) -> Void) {
        if subscription.isCancelled { return onEnd(.failure(CancellationError())) }
        self.onEnd = onEnd
        subscription.add(self)
        let interceptors = resolved.coordinator.configuration.interceptors[...]
        chain = Task {
            do {
                end(.success(try await Self.call(interceptors, resolved.request) { try await self.load($0) }))
            } catch {
                end(.failure(error))
            }
        }
    }

    nonisolated private static func call(
        _ interceptors: ArraySlice<any ImageInterceptor>, _ request: ImageRequest,
        _ load: @escaping ImageInterceptor.Next
    ) async throws -> ImageResponse {
        guard let first = interceptors.first else { return try await load(request) }
        do {
            return try await first.intercept(request) { try await call(interceptors.dropFirst(), $0, load) }
        } catch let error where !(error is ImagePipelineError) && !(error is CancellationError) {
            throw ImagePipelineError.intercepted(source: request.source.description, error)
        }
    }

    /// Loads what the innermost interceptor has passed on. Runs off the actor at first, because the key of a file requires a
    /// system call.
    nonisolated private func load(_ request: ImageRequest) async throws -> ImageResponse {
        let changed = request == resolved.request ? resolved : resolved.changed(to: request)
        return try await response(to: changed)
    }

    private func response(to resolved: ResolvedRequest) async throws -> ImageResponse {
        if onEnd == nil { throw CancellationError() }
        try Task.checkCancellation()
        let load = Subscription(priority: subscription.priority, threads: subscription.threads) {
            [subscription] event in
            // The task's own request does not know the modifier of the changed one.
            if case .preview(let preview) = event { return subscription.send(.delivered(resolved.delivered(preview))) }
            subscription.send(event)
        }
        loads.append(load)
        defer { loads.removeAll { $0 === load } }
        do {
            return try await RequestLoad(resolved: resolved, subscription: load).answer()
        } catch {
            throw ImagePipelineError.wrapping(error, source: resolved.source)
        }
    }

    private func end(_ result: Result<ImageResponse, any Error>) {
        // Cleared before it is called, since the caller may do anything.
        guard let onEnd else { return }
        self.onEnd = nil
        subscription.remove(self)
        // Those that the interceptors have not waited for.
        for load in loads { load.cancel() }
        onEnd(result)
    }
}

extension InterceptedLoad: SubscribedWork {
    func setPriority(_ priority: RequestPriority) {
        for load in loads { load.setPriority(priority) }
    }

    func cancel() {
        chain?.cancel()
        end(.failure(CancellationError()))
    }
}
