import Foundation
import HalcyonSystem

extension Coordinator {
    /// Does `work` with the request, and while that fails, with what may stand in for its source.
    ///
    /// - Throws: the error where one source was tried, `ImagePipelineError.allSourcesFailed` where there were more;
    ///   `CancellationError` at once.
    func withAlternatives<Value: Sendable>(
        to resolved: ResolvedRequest, demand: Demand,
        _ work: (isolated Coordinator, ResolvedRequest, Demand) async throws -> Value
    ) async throws -> Value {
        let cancellations = cancellations
        // What waits for no job is not found by `cancelAll`.
        func checkCancellation() throws {
            if self.cancellations != cancellations { throw CancellationError() }
        }
        var first = resolved
        var others = resolved.request.alternatives
        if let spare = resolved.request.lowDataAlternative, await isConstrained(resolved) {
            // What the caches have costs nothing.
            first = resolved.changing { $0.cache.allowsNetwork = false }
            others.insert(spare, at: 0)
        }
        try checkCancellation()
        var errors: [ImagePipelineError] = []
        do {
            return try await work(self, first, demand)
        } catch {
            errors.append(try attempt(error, source: first.source))
        }
        for source in others {
            demand.note(.alternativeTried(source.description))
            let other = try await resolve(source, insteadOf: resolved, demand: demand)
            try checkCancellation()
            do {
                return try await work(self, other, demand)
            } catch {
                errors.append(try attempt(error, source: source))
            }
        }
        if errors.count == 1, let error = errors.first { throw error }
        throw ImagePipelineError.allSourcesFailed(source: resolved.source.description, errors)
    }

    private func isConstrained(_ resolved: ResolvedRequest) async -> Bool {
        guard resolved.isRemote, resolved.cache.allowsNetwork else { return false }
        return await configuration.downloader.configuration.networkMonitor.status.isConstrained
    }

    /// - Throws: `CancellationError`, after which nothing else is tried.
    private func attempt(_ error: any Error, source: ImageSource) throws -> ImagePipelineError {
        try Task.checkCancellation()
        guard let error = ImagePipelineError.wrapping(error, source: source) as? ImagePipelineError else { throw error }
        return error
    }

    private func resolve(
        _ source: ImageSource, insteadOf resolved: ResolvedRequest, demand: Demand
    ) async throws -> ResolvedRequest {
        try await withTicket(for: demand) { _, ticket in
            try await ExecutionDomains.io.run(ticket: ticket) { _ in resolved.replacing(source, for: self.configuration)
            }
        }
    }
}
