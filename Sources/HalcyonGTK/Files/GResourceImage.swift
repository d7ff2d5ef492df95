import CGTK
import Foundation
import Halcyon

/// An image in a program's resources, as `glib-compile-resources` packs them.
///
///     let request = ImageRequest(.provider(GResourceImage("/org/app/icon.png")))
///
/// It is found among all resources that are registered when it is loaded. The bytes are not copied, but for those of a
/// compressed resource. What is registered under a path is taken to stay the same while the program runs.
public struct GResourceImage: ImageDataProvider {
    /// Such as `/org/app/icon.png`.
    public let path: String
    /// The most bytes that it may have, unpacked; 200 MB by default.
    public let maximumBytes: Int

    public init(_ path: String, maximumBytes: Int = 200_000_000) {
        self.path = path
        self.maximumBytes = max(0, maximumBytes)
    }

    public var cacheKey: String { "resource:" + path }

    /// A `resource` URL.
    public var contentURL: URL? {
        let characters = CharacterSet.urlPathAllowed
        return path.addingPercentEncoding(withAllowedCharacters: characters).flatMap { URL(string: "resource://" + $0) }
    }

    /// The resource's bytes.
    ///
    /// - Throws: `GIOImageError`; `CancellationError`.
    public func data() async throws -> Data {
        // A compressed one is unpacked there.
        try await ExecutionDomains.cpu.run { [self] _ in
            do {
                return try look()
            } catch let reason as GIOImageError.Reason {
                throw GIOImageError(source: "resource://" + path, reason: reason)
            }
        }
    }

    private func look() throws -> Data {
        // C would read up to the zero, and find another one.
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
        // Foundation only reads what it is told not to copy.
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: Int(count),
            deallocator: .custom { _, _ in g_bytes_unref(bytes) })
    }
}
