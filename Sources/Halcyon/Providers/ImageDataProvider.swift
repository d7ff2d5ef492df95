import Foundation
import HalcyonCache
import HalcyonSystem

/// A provider of image bytes from a source that the library does not support itself: a database, an archive, a server with its
/// own protocol.
///
///     let request = ImageRequest(.provider(CoverOfBook(id: 7)))
///
/// Concurrent loads of equal keys share one call. The resulting image and the bytes are kept in the caches as those of a server
/// are, where the request's policy says so: on disk until their expiration, since no HTTP freshness applies to them, and only
/// once the bytes have proved to be an image; `diskLevels` says what is worth it. The bytes arrive as a whole, so there are no
/// previews, and one progress event once they are there. A policy that does not allow the network (`.onlyIfCached`) does not
/// call a provider, and one that reads no cache (`.reload`) calls it and replaces what is stored. A failure is not remembered.
///
/// A provider that has an `Image` and no bytes is an `ImageProvider`.
public protocol ImageDataProvider: Sendable {
    /// The key of the image in the caches. Equal keys must mean equal bytes, also of providers of other types, and also in the
    /// next run of the program, since the disk is read then: the key of something that changes contains its revision. Errors and
    /// logs contain the key up to a `?`.
    var cacheKey: String { get }

    /// The levels of the disk cache that are worth using for this source, of those that a request's policy names. Both by
    /// default: `.diskOriginal` spares a later call of the provider, `.diskProcessed` the processors as well, and is also needed
    /// for encodings that are made of the image for web responses. Choose `.diskProcessed` if the bytes are as easily had as
    /// those on disk, and none if the key does not change with the content. It must not change; the levels of memory have no
    /// effect here.
    var diskLevels: CacheLevels { get }

    /// The URL of the bytes, if they have one: errors contain it, and its file name determines the image's scale. Nil by
    /// default.
    var contentURL: URL? { get }

    /// Returns the encoded image, as a file would contain it.
    ///
    /// It is called on no particular thread, by a task that is cancelled when the last load that waits for it is cancelled; the
    /// load has ended by then, whether or not this method responds to the cancellation. Blocking here takes a thread from the
    /// program's other tasks. The number of concurrent calls is limited to 256 KiB for each in a tenth of the memory that the
    /// system grants; it is 64 at least.
    ///
    /// - Throws: any error; the load fails with `ImagePipelineError.badSource`, whose `underlying` is the error, or
    ///   with `CancellationError` if that was thrown. More bytes than the request allows are a `badSource` as well.
    func data() async throws -> Data
}

extension ImageDataProvider {
    public var contentURL: URL? { nil }

    public var diskLevels: CacheLevels { .disk }
}

/// A provider of an image in base64 text. Missing padding and white space are allowed; text that is not base64 fails as
/// `badSource`.
public struct Base64ImageDataProvider: ImageDataProvider {
    /// The image in base64 text.
    public let base64: String
    public let cacheKey: String

    /// The finished image alone, since the text is at hand.
    public var diskLevels: CacheLevels { .diskProcessed }

    /// Creates a provider.
    ///
    /// - Parameter cacheKey: nil, the default, derives the key from the text, at the cost of hashing all of it.
    public init(_ base64: String, cacheKey: String? = nil) {
        self.base64 = base64
        self.cacheKey = cacheKey ?? "base64:\(base64.utf8.count):" + CacheKey(base64.utf8).fileName
    }

    /// Returns the decoded bytes.
    ///
    /// - Throws: an error if the text is not base64; `CancellationError`.
    public func data() async throws -> Data {
        try await ThreadPools.cpu.run { [base64] _ in
            guard let data = DataURL.base64Bytes(Data(base64.utf8)) else { throw Broken() }
            return data
        }
    }

    private struct Broken: Error, CustomStringConvertible {
        let description = "the base64 is broken"
    }
}
