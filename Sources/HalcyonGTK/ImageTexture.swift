import CGTK
import CHalcyonGTK
import Halcyon

/// An image's pixels as a `GdkTexture`, which shares them: nothing is copied.
///
/// May be made and let go on any thread. Cost: a few microseconds; the pixels live for as long as anything has the texture.
///
/// `@unchecked Sendable`: a texture never changes, and GObject counts its references atomically.
public final class ImageTexture: @unchecked Sendable {
    /// The `GdkTexture`, kept by this object.
    public let pointer: OpaquePointer

    public init(_ bitmap: Bitmap) {
        let owner = Unmanaged.passRetained(bitmap).toOpaque()
        pointer = bitmap.withPixels { pixels in
            halcyon_texture_new(pixels.baseAddress, Int32(bitmap.width), Int32(bitmap.height), owner) { owner in
                if let owner { Unmanaged<Bitmap>.fromOpaque(owner).release() }
            }
        }
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }
}
