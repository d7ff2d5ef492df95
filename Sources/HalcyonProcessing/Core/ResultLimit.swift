import HalcyonImage

/// The largest image that a processor makes.
enum ResultLimit {
    /// 2^28, a bitmap of 1 GiB: what a decode may have, too.
    static let maximumPixels = 1 << 28

    /// - Throws: `ProcessingError.notApplicable` where an image of this size is not to be had.
    static func check(_ size: PixelSize, processor: String) throws {
        let side = Bitmap.maximumSide
        guard size.width <= side, size.height <= side, let area = size.area, area <= maximumPixels else {
            throw ProcessingError.notApplicable(
                processor: processor,
                reason: "it would be \(size) pixels large; the most are \(maximumPixels), and \(side) a side")
        }
    }
}
