import CGTK
import Halcyon

/// An image's pixels as a `GdkTexture`, which shares them: nothing is copied, and what has the same bitmap has the same
/// texture.
///
/// May be made and let go on any thread. Cost: a few microseconds; the pixels live for as long as anything has the texture.
///
/// `@unchecked Sendable`: a texture never changes, and GObject counts its references atomically.
public final class ImageTexture: @unchecked Sendable {
    /// The `GdkTexture`, kept by this object.
    public let pointer: OpaquePointer

    public init(_ bitmap: Bitmap) {
        pointer = TextureTable.shared.texture(of: bitmap)
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }
}
