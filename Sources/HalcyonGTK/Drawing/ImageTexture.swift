import CGTK
import CHalcyonGTK
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

/// The textures that are in use, by the bitmaps whose pixels they share: what shows one bitmap in several places, or again,
/// has one texture for it, and GTK one copy on the graphics card.
package final class TextureTable: Sendable {
    package static let shared = TextureTable()

    private let entries = Lock<[ObjectIdentifier: Entry]>([:])

    /// A bitmap, for as long as the texture needs its pixels.
    ///
    /// `@unchecked Sendable`: GLib's weak references may be used from any thread.
    private final class Entry: @unchecked Sendable {
        let bitmap: Bitmap
        private let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

        init(_ bitmap: Bitmap) {
            self.bitmap = bitmap
            g_weak_ref_init(reference, nil)
        }

        deinit {
            g_weak_ref_clear(reference)
            reference.deallocate()
        }

        /// With a reference that is the caller's; nil where it is gone, though its pixels may be held yet.
        var texture: OpaquePointer? {
            get { g_weak_ref_get(reference).map { OpaquePointer($0) } }
            set { g_weak_ref_set(reference, newValue.map { UnsafeMutableRawPointer($0) }) }
        }
    }

    /// How many are in use.
    package var count: Int { entries.withLock { $0.count } }

    /// Whether there is a texture of a bitmap, or was one whose pixels are held yet.
    func holds(_ bitmap: ObjectIdentifier) -> Bool { entries.withLock { $0[bitmap] != nil } }

    /// - Returns: a `GdkTexture` with a reference that is the caller's.
    func texture(of bitmap: Bitmap) -> OpaquePointer {
        let (texture, former) = entries.withLock { entries -> (OpaquePointer, Entry?) in
            let former = entries[ObjectIdentifier(bitmap)]
            if let texture = former?.texture { return (texture, nil) }
            let entry = Entry(bitmap)
            let texture = make(entry)
            entry.texture = texture
            entries[ObjectIdentifier(bitmap)] = entry
            return (texture, former)
        }
        withExtendedLifetime(former) {}
        return texture
    }

    private func make(_ entry: Entry) -> OpaquePointer {
        let owner = Unmanaged.passRetained(entry).toOpaque()
        let (width, height) = (Int32(entry.bitmap.width), Int32(entry.bitmap.height))
        return entry.bitmap.withPixels { pixels in
            halcyon_texture_new(pixels.baseAddress, width, height, entry.bitmap.isOpaque ? 1 : 0, owner) { owner in
                guard let owner else { return }
                TextureTable.shared.forget(Unmanaged<Entry>.fromOpaque(owner).takeRetainedValue())
            }
        }
    }

    /// Called when GTK has let go of the pixels, on any thread.
    private func forget(_ entry: Entry) {
        entries.withLock { entries in
            let id = ObjectIdentifier(entry.bitmap)
            // There may be another texture of the bitmap by now.
            if entries[id] === entry { entries[id] = nil }
        }
    }
}
