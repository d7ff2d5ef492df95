import HalcyonImage

/// A check that a JPEG has no markers but those that every reader knows, so that all of them see the same picture.
///
/// A reader that does not know a marker skips its segment or reads on inside of it, where another picture may be.
package enum JPEGMarkers {
    /// Returns whether the file has one frame of baseline or progressive Huffman coding, and nothing up to its end but tables,
    /// intervals, scans, APP segments and comments.
    package static func areKnownToAll(_ reader: ByteReader) -> Bool {
        var (position, frames) = (2, 0)
        while let found = reader.firstIndex(of: 0xFF, from: position), let marker = reader.byte(found + 1) {
            switch marker {
            case 0xD9: return frames == 1
            case 0xFF: position = found + 1
            // In coded data, a zero or a restart marker follows each 255. These have no length.
            case 0, 0xD0...0xD7: position = found + 2
            case 0xC0, 0xC1, 0xC2, 0xC4, 0xDA, 0xDB, 0xDD, 0xE0...0xEF, 0xFE:
                if marker <= 0xC2 { frames += 1 }
                guard let length = reader.bigEndian16(found + 2), length >= 2 else { return false }
                position = found + 2 + length
            default: return false
            }
        }
        return false
    }
}
