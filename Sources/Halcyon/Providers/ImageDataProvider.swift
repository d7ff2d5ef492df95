import Foundation
import HalcyonCache
import HalcyonSystem

/// Bytes of an image from anywhere that the library does not know of: a database, an archive, a server with a protocol of
/// its own.
///
///     let request = ImageRequest(.provider(CoverOfBook(id: 7)))
///
/// Loads of equal keys that are under way at the same time share one call. What is made of the bytes is kept in memory
/// like any image; the bytes are not copied into the disk cache. They come as a whole, so there are no previews, and one
/// progress event once they are there. A policy that does not allow the network (`.onlyIfCached`) does not ask a provider
/// either.
public protocol ImageDataProvider: Sendable {
    /// What tells the image from others in the caches. Equal keys must mean equal bytes. Errors and logs name it up to a
    /// `?`.
    var cacheKey: String { get }

    /// Where the bytes come from, if that has a URL: named in errors, and its file name says the image's scale. Nil by
    /// default.
    var contentURL: URL? { get }

    /// The encoded image, as a file would hold it.
    ///
    /// Called on no particular thread, by a task that is cancelled when the last load that waits for it is; the load has
    /// ended by then, whether or not this heeds it. Blocking here takes a thread from the program's other tasks. At most
    /// as many run at once as have 256 KiB each in a tenth of the memory that the system grants, 64 at least.
    ///
    /// - Throws: anything; the load ends in `ImagePipelineError.badSource` with the error's description as its reason, and
    ///   for `CancellationError` in that. More bytes than the request allows are a `badSource` too.
    func data() async throws -> Data
}

extension ImageDataProvider {
    public var contentURL: URL? { nil }
}

/// An image as base64 text. Missing padding and white space are allowed; what is no base64 fails as `badSource`.
public struct Base64ImageDataProvider: ImageDataProvider {
    public let base64: String
    public let cacheKey: String

    /// - Parameter cacheKey: nil, the default, is made of the text, at the cost of a hash over all of it.
    public init(_ base64: String, cacheKey: String? = nil) {
        self.base64 = base64
        self.cacheKey = cacheKey ?? "base64:\(base64.utf8.count):" + DiskKey(base64.utf8).fileName
    }

    /// The decoded bytes.
    ///
    /// - Throws: an error that says that the text is no base64; `CancellationError`.
    public func data() async throws -> Data {
        try await ExecutionDomains.cpu.run { [base64] _ in
            guard let data = DataURL.base64Bytes(Data(base64.utf8)) else { throw Broken() }
            return data
        }
    }

    private struct Broken: Error, CustomStringConvertible {
        let description = "the base64 is broken"
    }
}

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
