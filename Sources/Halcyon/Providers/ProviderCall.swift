import Foundation
import HalcyonCodecs
import HalcyonSystem

/// The call of a provider, within a memory budget.
enum ProviderCall {
    /// The budget is separate from that of files: a provider that hangs must not block the reading of files.
    private static let budget = ByteBudget(capacity: max(16 << 20, SystemGrant.current.memory / 10))
    private static let usualFile = 256 << 10
    private static let usualImage = 4 << 20

    /// Returns the bytes of a provider, or its image.
    ///
    /// - Throws: `ImagePipelineError.badSource`; `CancellationError`.
    static func bytes(
        of provider: any ImageDataProvider, source: ImageSource, maximumBytes: Int, mark: SourceMark?,
        threads: ThreadPool, ticket: WorkTicket
    ) async throws -> FetchedData {
        if let provider = provider as? any ImageProvider {
            return try await image(of: provider, source: source, mark: mark, threads: threads, ticket: ticket)
        }
        let memory = try await budget.hold(usualFile, ticket: ticket)
        let data = try await called(source) { try await provider.data() }
        guard data.count <= maximumBytes else {
            throw ImagePipelineError.badSource(
                source: source.description, reason: "it has \(data.count) bytes; the limit is \(maximumBytes)")
        }
        return FetchedData(data: data, origin: .provider, memory: memory, mark: mark)
    }

    private static func image(
        of provider: any ImageProvider, source: ImageSource, mark: SourceMark?, threads: ThreadPool,
        ticket: WorkTicket
    ) async throws -> FetchedData {
        let memory = try await budget.hold(usualImage, ticket: ticket)
        let made = try await called(source) {
            let image = try await provider.image()
            // Converting colours takes time.
            guard image.colorProfile != nil else { return try MadeImage(image) }
            return try await threads.run(ticket: ticket) { _ in try MadeImage(image) }
        }
        return FetchedData(data: Data(), made: made, origin: .provider, memory: memory, mark: mark)
    }

    private static func called<Value>(_ source: ImageSource, _ call: () async throws -> Value) async throws -> Value {
        let value: Value
        do {
            value = try await call()
        } catch let error as CancellationError {
            throw error
        } catch {
            // After a cancellation, any error of the provider only ends its call.
            try Task.checkCancellation()
            // An error of a check here is none that a program knows.
            let underlying: (any Error)? = error is MadeImage.Failure ? nil : error
            throw ImagePipelineError.badSource(
                source: source.description, reason: "\(error)", underlying: underlying)
        }
        try Task.checkCancellation()
        return value
    }
}
