import HalcyonImage

/// The properties that the boxes of a HEIC or AVIF declare for the whole file, read before one of the libraries parses
/// it.
package struct ISOImageHeader {
    /// The largest number of pixels that an item declares; 0 if none does.
    package private(set) var largestArea = 0
    /// The longest side in pixels that an item declares; 0 if none does.
    package private(set) var longestSide = 0
    package private(set) var profileByteCount = 0
    /// Whether there are AV1 pictures and no HEVC pictures.
    package var hasOnlyAV1: Bool { hasAV1 && !hasHEVC }
    private var hasAV1 = false
    private var hasHEVC = false
    /// Whether a box at the top level reaches past the end.
    package private(set) var isCut = false
    /// The number of bytes up to the end of the last box. Other data may follow it.
    package private(set) var byteCount = 0

    package init(_ reader: ByteReader) {
        for box in ISOBox.ofFile(reader) {
            isCut = box.isCut
            byteCount = box.end
            guard box.isNamed("meta") else { continue }
            // The body begins with a version and flags.
            for part in ISOBox.all(in: box.body, from: 4) where part.isNamed("iprp") {
                for list in ISOBox.all(in: part.body) where list.isNamed("ipco") { readProperties(list.body) }
            }
        }
    }

    private mutating func readProperties(_ reader: ByteReader) {
        for property in ISOBox.all(in: reader) {
            if property.isNamed("av1C") { hasAV1 = true }
            if property.isNamed("hvcC") { hasHEVC = true }
            if property.isNamed("colr") { profileByteCount += property.body.count }
            guard property.isNamed("ispe"), let width = property.body.bigEndian32(4),
                let height = property.body.bigEndian32(8)
            else { continue }
            longestSide = max(longestSide, width, height)
            largestArea = max(largestArea, PixelSize(width, height).area ?? .max)
        }
    }

    /// Refuses sizes that the libraries would refuse themselves, so that the error contains the figure.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    package func check() throws(CodecError) {
        let limits = DecodeLimits(maximumSide: Bitmap.maximumSide)
        guard largestArea <= limits.maximumPixels else {
            throw CodecError.limitExceeded("pixels", value: largestArea, limit: limits.maximumPixels)
        }
        guard longestSide <= limits.maximumSide else {
            throw CodecError.limitExceeded("longest side", value: longestSide, limit: limits.maximumSide)
        }
    }
}
