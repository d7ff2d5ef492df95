import Foundation

/// A picture of the gallery.
struct Picture: Sendable {
    let title: String
    let url: URL
    /// The BlurHash of the file, which is shown until the picture is loaded.
    let hash: String?

    var format: String { url.pathExtension.uppercased() }
}
