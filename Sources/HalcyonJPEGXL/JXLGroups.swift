import Glibc
import HalcyonImage

/// The squares of a frame that is stored in full detail alone: each in a part of its own, in order, which may
/// depend on those before it.
struct JXLGroups {
    let size: PixelSize
    private let side: Int
    /// The ends of the squares, row by row, in bytes behind the header of the frame.
    private let ends: [Int]
    /// The end of the first square.
    var firstEnd: Int { ends.first ?? .max }

    init(of size: PixelSize, side: Int, ends: [Int]) {
        (self.size, self.side, self.ends) = (size, side, ends)
    }

    /// Clears the squares that are not there of a picture of which so many bytes behind the header are.
    func clearMissing(of pixels: UnsafeMutableRawBufferPointer, byteCount: Int) {
        guard let start = pixels.baseAddress else { return }
        let columns = (size.width + side - 1) / side
        for (group, end) in ends.enumerated() where end > byteCount {
            let (x, y) = (group % columns * side, group / columns * side)
            let bytes = min(side, size.width - x) * 4
            for row in y..<min(y + side, size.height) { memset(start + (row * size.width + x) * 4, 0, bytes) }
        }
    }
}
