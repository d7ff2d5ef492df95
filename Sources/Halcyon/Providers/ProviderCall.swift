import Foundation
import HalcyonSystem

/// One call of a provider, within bounds.
enum ProviderCall {
    /// Apart from the room for files: a provider that hangs must not keep others from their disk.
    private static let budget = ByteBudget(capacity: max(16 << 20, SystemGrant.current.memory / 10))
    private static let usual = 256 << 10

    /// - Throws: `ImagePipelineError.badSource`; `CancellationError`.
    static func bytes(
        of provider: any ImageDataProvider, source: ImageSource, maximumBytes: Int, ticket: WorkTicket
    ) async throws -> FetchedData {
        let memory = try await budget.hold(usual, ticket: ticket)
        let data: Data
        do {
            data = try await provider.data()
        } catch let error as CancellationError {
            throw error
        } catch {
            // Whatever a provider throws once it is called off is the end of that call.
            try Task.checkCancellation()
            throw ImagePipelineError.badSource(source: source.description, reason: "\(error)")
        }
        try Task.checkCancellation()
        guard data.count <= maximumBytes else {
            throw ImagePipelineError.badSource(
                source: source.description, reason: "it has \(data.count) bytes; the limit is \(maximumBytes)")
        }
        return FetchedData(data: data, origin: .provider, memory: memory)
    }
}
