import CGTK
import Halcyon

extension Image {
    /// Makes an image of a texture's pixels, which are copied; `info.format` is `.bitmap`.
    ///
    /// Any thread, but for a `GdkGLTexture`, which needs the main one. GDK brings every format to 8 bits a channel.
    ///
    /// - Parameter texture: a `GdkTexture`. It is only read; the caller's reference stays the caller's.
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

    /// Makes a `GdkTexture` of the first frame, which shares the pixels: nothing is copied.
    ///
    /// Any thread. `ImageTexture` does the same and counts the reference by itself.
    ///
    /// - Returns: a new texture with one reference, which is the caller's: end it with `g_object_unref`.
    public func makeTexture() -> OpaquePointer {
        let texture = ImageTexture(bitmap)
        return withExtendedLifetime(texture) {
            g_object_ref(UnsafeMutableRawPointer(texture.pointer))
            return texture.pointer
        }
    }
}
