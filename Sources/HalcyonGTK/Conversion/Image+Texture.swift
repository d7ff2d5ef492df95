import CGTK
import Halcyon

extension Image {
    /// Creates an image from a copy of a texture's pixels; `info.format` is `.bitmap`.
    ///
    /// Call it on any thread, except for a `GdkGLTexture`, which needs the main thread. GDK converts every format to 8 bits a
    /// channel.
    ///
    /// - Parameter texture: a `GdkTexture`, which is only read; no reference to it is taken.
    /// - Throws: `ImageConversionError.tooLarge`, `.outOfMemory`.
    public init(texture: OpaquePointer) throws {
        let size = PixelSize(Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
        let bitmap = try Bitmap.converted(size) { bytes in
            gdk_texture_download(
                texture, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), gsize(size.width * 4))
            return Bitmap.settle(bytes)
        }
        self.init(converted: bitmap)
    }

    /// Creates a `GdkTexture` of the first frame, which shares the pixels: nothing is copied.
    ///
    /// Call it on any thread. `ImageTexture` does the same and manages the reference itself.
    ///
    /// - Returns: a new texture with one reference, which the caller owns: release it with `g_object_unref`.
    public func makeTexture() -> OpaquePointer {
        let texture = ImageTexture(bitmap)
        return withExtendedLifetime(texture) {
            g_object_ref(UnsafeMutableRawPointer(texture.pointer))
            return texture.pointer
        }
    }
}
