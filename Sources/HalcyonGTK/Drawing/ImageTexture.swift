import CGTK
import CHalcyonGTK
import Halcyon
import HalcyonSystem

/// A `GdkTexture` that shares the pixels of an image: nothing is copied, and one bitmap has one texture.
///
/// An instance may be created and released on any thread. Cost: a few microseconds; the pixels live for as long as the texture
/// is in use.
///
/// `@unchecked Sendable`: a texture never changes, and GObject counts its references atomically.
final class ImageTexture: @unchecked Sendable {
    /// The `GdkTexture`, to which this object holds a reference.
    let pointer: OpaquePointer

    init(_ bitmap: Bitmap) {
        pointer = TextureTable.shared.texture(of: bitmap)
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }
}

/// The textures in use, by the bitmaps whose pixels they share: a bitmap that is shown in several places, or again, has one
/// texture, and GTK one copy of it on the graphics card.
package final class TextureTable: Sendable {
    package static let shared = TextureTable()

    private let entries = Lock<[ObjectIdentifier: Entry]>([:])

    /// A bitmap and a weak reference to its texture; the entry lives for as long as the texture needs the pixels.
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

        /// The texture, with a reference that the caller owns; nil if it is gone, although its pixels may still be held.
        var texture: OpaquePointer? {
            get { g_weak_ref_get(reference).map { OpaquePointer($0) } }
            set { g_weak_ref_set(reference, newValue.map { UnsafeMutableRawPointer($0) }) }
        }
    }

    /// The number of textures in use.
    package var count: Int { entries.withLock { $0.count } }

    /// Whether a bitmap has a texture, or had one whose pixels are still held.
    func holds(_ bitmap: ObjectIdentifier) -> Bool { entries.withLock { $0[bitmap] != nil } }

    /// - Returns: a `GdkTexture` with a reference that the caller owns.
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

    /// Removes an entry once GTK has released the pixels; called on any thread.
    private func forget(_ entry: Entry) {
        entries.withLock { entries in
            let id = ObjectIdentifier(entry.bitmap)
            // The bitmap may have another texture by now.
            if entries[id] === entry { entries[id] = nil }
        }
    }
}
