import HalcyonImage

/// Where two frames differ, so that an encoder need not write what stays.
enum FrameDifference {
    /// The smallest rectangle that holds every changed pixel; nil for equal frames. Both are of one size.
    static func rect(from old: Bitmap, to new: Bitmap) -> PixelRect? {
        if old === new { return nil }
        return old.withPixels { old in
            new.withPixels { pixels in
                rect(old.bindMemory(to: UInt32.self), pixels.bindMemory(to: UInt32.self), size: new.size)
            }
        }
    }

    private static func rect(
        _ old: UnsafeBufferPointer<UInt32>, _ new: UnsafeBufferPointer<UInt32>, size: PixelSize
    ) -> PixelRect? {
        let width = size.width
        func isEqual(_ row: Int) -> Bool {
            let start = row * width
            return (start..<start + width).allSatisfy { old[$0] == new[$0] }
        }
        guard let top = (0..<size.height).first(where: { !isEqual($0) }),
            let bottom = (top..<size.height).last(where: { !isEqual($0) })
        else { return nil }
        var (left, right) = (width - 1, 0)
        for row in top...bottom {
            let start = row * width
            if let first = (0..<left).first(where: { old[start + $0] != new[start + $0] }) { left = first }
            if let last = (right..<width).last(where: { old[start + $0] != new[start + $0] }) {
                right = max(right, last)
            }
        }
        left = min(left, right)
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
}
