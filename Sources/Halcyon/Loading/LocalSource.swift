import Foundation
import HalcyonSystem

/// The loading of sources that need no transfer: files, `data:` URLs, and bytes of the program or of its providers.
enum LocalSource {
    /// Returns the bytes of a request's source; nil if that is remote.
    ///
    /// - Throws: `ImagePipelineError.notInCache` for a provider if the policy does not allow the network, and the errors below.
    static func bytes(of resolved: ResolvedRequest, ticket: WorkTicket) async throws -> FetchedData? {
        if case .provider = resolved.source, !resolved.cachePolicy.allowsNetwork {
            throw ImagePipelineError.notInCache(source: resolved.source.description)
        }
        return try await bytes(
            of: resolved.source,
            // A request's own cache key does not identify the file's content.
            key: resolved.request.cacheKey == nil ? resolved.key.source : nil,
            maximumBytes: resolved.request.network.maximumBytes
                ?? resolved.coordinator.configuration.maximumBytes,
            threads: resolved.coordinator.threads, ticket: ticket)
    }

    /// Returns the bytes of a local source; nil for a remote one.
    ///
    /// - Parameter key: the key of the source, to check whether a file still has the content that the key names; nil does not
    ///   check.
    /// - Throws: `ImagePipelineError.badSource`, `.invalidRequest`; `CancellationError`.
    static func bytes(
        of source: ImageSource, key: String?, maximumBytes: Int, threads: ThreadPool, ticket: WorkTicket
    ) async throws -> FetchedData? {
        do {
            switch source {
            case .remote: return nil
            case .file(let url):
                let path = url.path(percentEncoded: false)
                let memory = try await EncodedDataBudget.hold(ticket: ticket)
                let file = try await ThreadPools.io.run(ticket: ticket) { _ in
                    try FileSource.read(path, maximumBytes: maximumBytes)
                }
                return FetchedData(
                    data: file.data, origin: .file, matchesKey: key == nil || file.key == key, memory: memory)
            case .dataURL(let text):
                let data = try await threads.run(ticket: ticket) { _ in try DataURL.decode(text) }
                return FetchedData(data: data, origin: .data)
            case .data(let data, _): return FetchedData(data: data, origin: .data)
            case .provider(let provider):
                return try await ProviderCall.bytes(
                    of: provider, source: source, maximumBytes: maximumBytes, ticket: ticket)
            case .malformed(_, let reason):
                throw ImagePipelineError.invalidRequest(source: source.description, reason: reason)
            }
        } catch let failure as FileSource.Failure {
            throw ImagePipelineError.badSource(source: source.description, reason: failure.description)
        } catch let failure as DataURL.Failure {
            throw ImagePipelineError.badSource(source: source.description, reason: failure.description)
        }
    }
}
