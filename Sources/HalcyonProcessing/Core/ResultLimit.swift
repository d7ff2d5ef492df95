import HalcyonImage

/// The limit on the size of a processor's result.
enum ResultLimit {
    /// 2^28 pixels, a bitmap of 1 GiB: the same limit as for a decode.
    static let maximumPixels = 1 << 28

    /// - Throws: `ProcessingError.notApplicable` if the size exceeds the limit.
    static func check(_ size: PixelSize, processor: String) throws {
        let side = Bitmap.maximumSide
        guard size.width <= side, size.height <= side, let area = size.area, area <= maximumPixels else {
            throw ProcessingError.notApplicable(
                processor: processor,
                reason: "it would be \(size) pixels large; the most are \(maximumPixels), and \(side) a side")
        }
    }
}
