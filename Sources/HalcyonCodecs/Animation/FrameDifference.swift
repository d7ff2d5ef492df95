import Foundation
import HalcyonImage

/// The comparison of two frames, so that an encoder can leave out the unchanged area.
enum FrameDifference {
    /// Returns the smallest rectangle that contains every changed pixel; nil for equal frames. Both frames must have
    /// the same size.
    static func rect(from old: Bitmap, to new: Bitmap) -> PixelRect? {
        if old === new { return nil }
        return old.withPixels { old in
            new.withPixels { rect(from: old, to: $0, size: new.size) }
        }
    }

    private static func rect(
        from old: UnsafeRawBufferPointer, to new: UnsafeRawBufferPointer, size: PixelSize
    ) -> PixelRect? {
        guard let oldStart = old.baseAddress, let newStart = new.baseAddress else { return nil }
        let (width, rowBytes) = (size.width, size.width * 4)
        // Compares whole rows at memory speed, since most of them are equal.
        func isChanged(_ row: Int) -> Bool {
            memcmp(oldStart + row * rowBytes, newStart + row * rowBytes, rowBytes) != 0
        }
        guard let top = (0..<size.height).first(where: isChanged),
            let bottom = (top..<size.height).last(where: isChanged)
        else { return nil }
        var (left, right) = (width - 1, 0)
        for row in top...bottom where isChanged(row) {
            let (old, new) = (oldStart + row * rowBytes, newStart + row * rowBytes)
            func isEqual(_ column: Int) -> Bool {
                old.load(fromByteOffset: column * 4, as: UInt32.self)
                    == new.load(fromByteOffset: column * 4, as: UInt32.self)
            }
            // Search only outside the columns that the rectangle covers already.
            var (first, last) = (0, width - 1)
            while first < left, isEqual(first) { first += 1 }
            while last > right, isEqual(last) { last -= 1 }
            (left, right) = (first, last)
        }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
}
