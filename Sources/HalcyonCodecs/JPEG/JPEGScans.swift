import HalcyonImage

/// A check of the number of scans of a JPEG, before anything is decoded.
///
/// A few kilobytes can declare thousands of scans, each of which costs a pass over the whole image. Real encoders
/// write about ten.
package enum JPEGScans {
    private static let most = 500
    /// The number of scans that are decoded whatever the size is.
    package static let few = 32
    /// The maximum product of pixels and scans.
    private static let maximumWork = 1 << 31

    /// Checks the number of scans of a file.
    ///
    /// - Parameter few: the number of scans that are allowed whatever the size is.
    /// - Throws: `CodecError.damaged` if there are more than any real file has, or too many for their size.
    package static func check(_ reader: ByteReader, size: PixelSize, few: Int = few) throws {
        try check(count: JPEGMarkers(reader).count { $0 == 0xDA }, size: size, few: few)
    }

    /// Checks the number of scans of a file that is to be written.
    package static func check(count: Int, size: PixelSize, few: Int) throws {
        guard count <= most else { throw CodecError.damaged(.jpeg, reason: "it has more than \(most) scans") }
        let (work, overflow) = (size.area ?? .max).multipliedReportingOverflow(by: count)
        guard count <= few || (!overflow && work <= maximumWork) else {
            throw CodecError.damaged(.jpeg, reason: "it has too many scans for its size")
        }
    }
}
