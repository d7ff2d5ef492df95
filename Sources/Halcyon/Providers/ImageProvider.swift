import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A provider of an image that is not in a file: a frame of a video, a page of a document, a drawing of the program.
///
///     struct Cover: ImageProvider {
///         let book: Book
///         var cacheKey: String { "cover/\(book.id)/\(book.revision)" }
///         func image() async throws -> Image { try await book.drawnCover() }
///     }
///
/// A load calls `image()` and no other method. The image has the place of the bytes of other sources: loads of equal keys share
/// one call, whatever their sizes and processors, and the decode options apply to its pixels as they would to those of a file.
/// Its pixels are in sRGB afterwards, whatever profile they had. On disk, the source's entry is the image without loss, as the
/// request's `CacheSerializer` encodes it: usually a PNG, encoded after the load at the lowest priority. A provider that draws
/// faster than a PNG is read has `diskLevels` without `.diskOriginal`.
public protocol ImageProvider: ImageDataProvider {
    /// Returns the image at its full size, upright.
    ///
    /// It is called as `data()` is, by a task of no particular thread that is cancelled with the last load that waits for it. The
    /// number of concurrent calls is limited to 4 MiB for each in a tenth of the memory that the system grants, and to the actual
    /// bytes once they are known; it is 4 at least.
    ///
    /// - Throws: any error; the load fails with `ImagePipelineError.badSource`, whose `underlying` is the error, or
    ///   with `CancellationError` if that was thrown. A preview, and an image whose frames are of another size, are a
    ///   `badSource` as well; one beyond the request's `DecodeLimits` is `.decoding`.
    func image() async throws -> Image
}

extension ImageProvider {
    /// Returns the image encoded without loss, as a pipeline's `data(for:)` does without this method.
    ///
    /// - Throws: the errors of `image()`; `CodecError`, `BitmapError`.
    public func data() async throws -> Data {
        let image = try await image()
        return try await ThreadPools.cpu.run {
            try DefaultCacheSerializer.losslessFile(of: image, .shared, context: $0)
        }
    }
}

extension ImageSource {
    /// Returns a source for an image that a closure makes when it is needed; an image that is there already is
    /// `.image(key: "seven") { image }`.
    ///
    /// - Parameters:
    ///   - key: the key in the caches; equal keys must mean equal images, also in the next run of the program.
    ///   - diskLevels: as `ImageDataProvider.diskLevels`; both levels by default.
    public static func image(
        key: String, diskLevels: CacheLevels = .disk, _ make: @escaping @Sendable () async throws -> Image
    ) -> ImageSource {
        .provider(MadeByClosure(cacheKey: key, diskLevels: diskLevels, make: make))
    }
}

private struct MadeByClosure: ImageProvider {
    let cacheKey: String
    let diskLevels: CacheLevels
    let make: @Sendable () async throws -> Image

    func image() async throws -> Image { try await make() }
}
