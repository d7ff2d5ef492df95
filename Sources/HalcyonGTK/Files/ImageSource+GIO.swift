import CGTK
import Foundation
import Halcyon

extension ImageSource {
    /// Returns the source of a GIO URI: `resource:///org/app/icon.png`, `trash:///photo.jpg`, `sftp://host/photo.jpg`.
    ///
    /// `http`, `https`, `file` and `data` become Halcyon's own sources. A URI without a scheme makes a source whose load fails
    /// with `ImagePipelineError.invalidRequest`; a scheme that nothing on the system reads, one that fails with `.badSource`.
    public static func gio(_ uri: String) -> ImageSource {
        guard !uri.utf8.contains(0) else { return .malformed(uri, reason: "it is not a URI") }
        guard let scheme = g_uri_peek_scheme(uri).map({ String(cString: $0) }) else {
            return .malformed(uri, reason: "the URI has no scheme")
        }
        if isOwn(scheme) { return ImageSource(string: uri) }
        return .provider(provider(of: uri, scheme: scheme))
    }

    /// Returns the provider of a plain URL, for a pipeline whose requests name such images by URL:
    ///
    ///     configuration.providers.append(ImageSource.gioProvider)
    ///
    /// - Returns: nil for URLs that Halcyon loads itself, and for schemes that GIO does not support.
    public static func gioProvider(for url: URL) -> (any ImageDataProvider)? {
        guard let scheme = url.scheme?.lowercased(), !isOwn(scheme), schemes.contains(scheme) else { return nil }
        return provider(of: url.absoluteString, scheme: scheme)
    }

    private static func isOwn(_ scheme: String) -> Bool {
        ["http", "https", "file", "data"].contains(scheme)
    }

    private static func provider(of uri: String, scheme: String) -> any ImageDataProvider {
        // The rest after the scheme is a path, however many slashes it begins with.
        guard scheme == "resource", let text = g_uri_unescape_string(uri.dropFirst("resource:".count).description, nil)
        else { return GFileImage(uri: uri) }
        defer { g_free(text) }
        let path = String(cString: text)
        return GResourceImage("/" + path.drop { $0 == "/" })
    }

    /// The URI schemes that GIO supports on this system; they do not change while a program runs.
    private static let schemes: Set<String> = {
        guard var next = g_vfs_get_supported_uri_schemes(g_vfs_get_default()) else { return [] }
        var schemes: Set<String> = []
        while let scheme = next.pointee {
            schemes.insert(String(cString: scheme))
            next += 1
        }
        return schemes
    }()
}
