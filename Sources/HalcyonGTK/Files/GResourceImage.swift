import CGTK
import Foundation
import Halcyon
import HalcyonSystem

/// An image in the program's resources, as `glib-compile-resources` packs them.
///
///     let request = ImageRequest(.provider(GResourceImage("/org/app/icon.png")))
///
/// The resource is looked up among all registered resources when it is loaded. Its bytes are not copied unless the resource is
/// compressed. The content of a path is taken to stay the same while the program runs.
public struct GResourceImage: ImageDataProvider {
    /// The path of the resource, such as `/org/app/icon.png`.
    public let path: String
    /// The maximum size in bytes after decompression; 200 MB by default.
    public let maximumBytes: Int

    /// Creates the image of a path; whether there is such a resource is checked by the load.
    public init(_ path: String, maximumBytes: Int = 200_000_000) {
        self.path = path
        self.maximumBytes = max(0, maximumBytes)
    }

    public var cacheKey: String { "resource:" + path }

    /// None: the bytes are in the program, and another version of it may have others under this path.
    public var diskLevels: CacheLevels { [] }

    /// A `resource` URL.
    public var contentURL: URL? {
        let characters = CharacterSet.urlPathAllowed
        return path.addingPercentEncoding(withAllowedCharacters: characters).flatMap { URL(string: "resource://" + $0) }
    }

    /// Returns the bytes of the resource.
    ///
    /// - Throws: `GIOImageError`; `CancellationError`.
    public func data() async throws -> Data {
        // On a pool of threads, since a compressed resource is decompressed there.
        try await ThreadPools.cpu.run { [self] _ in
            do {
                return try lookUp()
            } catch let reason as GIOImageError.Reason {
                throw GIOImageError(source: "resource://" + path, reason: reason)
            }
        }
    }

    private func lookUp() throws -> Data {
        // C would stop at the zero byte, and look up another resource.
        guard !path.utf8.contains(0) else { throw GIOImageError.Reason.notFound }
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        var size: gsize = 0
        guard g_resources_get_info(path, G_RESOURCE_LOOKUP_FLAGS_NONE, &size, nil, &error) != 0 else {
            throw GIOImageError.thrown(for: error)
        }
        guard size <= gsize(maximumBytes) else { throw GIOImageError.Reason.tooLarge(limit: maximumBytes) }
        guard let bytes = g_resources_lookup_data(path, G_RESOURCE_LOOKUP_FLAGS_NONE, &error) else {
            throw GIOImageError.thrown(for: error)
        }
        var count: gsize = 0
        guard let start = g_bytes_get_data(bytes, &count), count > 0 else {
            g_bytes_unref(bytes)
            return Data()
        }
        // Foundation never writes to bytes that it was given with `bytesNoCopy`.
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: Int(count),
            deallocator: .custom { _, _ in g_bytes_unref(bytes) })
    }
}
