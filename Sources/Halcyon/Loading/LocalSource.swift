import Foundation
import HalcyonSystem

/// The loading of sources that need no transfer: files, `data:` URLs, and bytes of the program or of its providers.
enum LocalSource {
    /// Returns the bytes of a request's source, or the image of its provider; nil if that is remote.
    ///
    /// - Parameter mark: the moment at which the work for the bytes began; nil if nothing is kept of them.
    /// - Throws: `ImagePipelineError.notInCache` for a provider if the policy does not allow the network, and the errors below.
    static func bytes(
        of resolved: ResolvedRequest, mark: SourceMark? = nil, ticket: WorkTicket
    ) async throws -> FetchedData? {
        if case .provider = resolved.source, !resolved.cachePolicy.allowsNetwork {
            throw ImagePipelineError.notInCache(source: resolved.source.description)
        }
        return try await bytes(
            of: resolved.source,
            // A request's own cache key does not identify the file's content.
            key: resolved.request.cacheKey == nil ? resolved.key.source : nil,
            maximumBytes: resolved.request.network.maximumBytes
                ?? resolved.coordinator.configuration.maximumBytes,
            mark: mark, ticket: ticket)
    }

    /// Returns the bytes of a local source; nil for a remote one.
    ///
    /// - Parameter key: the key of the source, to check whether a file still has the content that the key names; nil does not
    ///   check.
    /// - Throws: `ImagePipelineError.badSource`, `.invalidRequest`; `CancellationError`.
    private static func bytes(
        of source: ImageSource, key: String?, maximumBytes: Int, mark: SourceMark?, ticket: WorkTicket
    ) async throws -> FetchedData? {
        do {
            switch source {
            case .remote: return nil
            case .file(let url):
                let path = url.path(percentEncoded: false)
                let memory = try await EncodedDataBudget.hold(ticket: ticket)
                let file = try await settled(path, maximumBytes: maximumBytes, ticket: ticket)
                return FetchedData(
                    data: file.data, origin: .file, matchesKey: file.isSettled && (key == nil || file.key == key),
                    memory: memory, mark: mark)
            case .dataURL(let text):
                let data = try await ThreadPools.cpu.run(ticket: ticket) { _ in try DataURL.decode(text) }
                return FetchedData(data: data, origin: .data, mark: mark)
            case .data(let data, _): return FetchedData(data: data, origin: .data, mark: mark)
            case .provider(let provider):
                return try await ProviderCall.bytes(
                    of: provider, source: source, maximumBytes: maximumBytes, mark: mark, ticket: ticket)
            case .malformed(_, let reason):
                throw ImagePipelineError.invalidRequest(source: source.description, reason: reason)
            }
        } catch let failure as FileSource.Failure {
            throw ImagePipelineError.badSource(source: source.description, reason: failure.description)
        } catch let failure as DataURL.Failure {
            throw ImagePipelineError.badSource(source: source.description, reason: failure.description)
        }
    }

    /// Reads a file. One that changed a moment ago is read once more after the file system's clock has gone on, since a change
    /// right after the read would leave its attributes, and so its key, as they are.
    private static func settled(
        _ path: String, maximumBytes: Int, ticket: WorkTicket
    ) async throws -> FileSource.Contents {
        func read() async throws -> FileSource.Contents {
            try await ThreadPools.io.run(ticket: ticket) { _ in try FileSource.read(path, maximumBytes: maximumBytes) }
        }
        let first = try await read()
        guard !first.isSettled else { return first }
        try await Task.sleep(for: FileSource.tick)
        return try await read()
    }
}
