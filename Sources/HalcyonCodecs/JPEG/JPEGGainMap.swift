import HalcyonImage

/// The signs of a gain map in the segments of a JPEG: the picture is followed by another one, the map, which a list names (CIPA DC-007,
/// "MPF"), and is described as the base of one (Ultra HDR's XMP, or ISO 21496-1).
struct JPEGGainMap {
    private static let pictureCount = 0xB001

    private var isDescribed = false
    private var hasMorePictures = false

    /// Whether the file has a gain map. One whose list was dropped, as by a program that does not know gain maps, has none any more.
    var isThere: Bool { isDescribed && hasMorePictures }

    /// Reads an APP1 or APP2 segment.
    mutating func read(_ body: ByteReader) {
        if body.matches("http://ns.adobe.com/xap/1.0/\0", at: 0) {
            if body.firstMatch("http://ns.adobe.com/hdr-gain-map/1.0/", from: 29) != nil { isDescribed = true }
        } else if body.matches("urn:iso:std:iso:ts:21496:-1\0", at: 0) {
            isDescribed = true
        } else if body.matches("MPF\0", at: 0) {
            let list = ExifDirectory.first(of: body.part(at: 4, length: body.count - 4))
            if let count = list?.value(of: Self.pictureCount), count > 1 { hasMorePictures = true }
        }
    }
}
