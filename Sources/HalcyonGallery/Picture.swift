import Foundation

/// One picture of the gallery.
struct Picture: Sendable {
    let title: String
    let url: URL
    /// The BlurHash of its file, seen until the picture is there.
    let hash: String?

    var format: String { url.pathExtension.uppercased() }
}
