import Foundation
import HalcyonImage

/// An image in memory.
struct CachedImage: Sendable {
    let image: Image
    /// Of the encoded bytes that it was made of.
    let encodedBytes: Int
    /// When HTTP wants it asked for again; nil where it sets no end.
    let freshUntil: Date?
}
