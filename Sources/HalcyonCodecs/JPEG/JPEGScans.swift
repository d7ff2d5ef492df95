#if JPEG
    import HalcyonImage

    /// The scans of a JPEG, counted before anything is decoded.
    ///
    /// A few kilobytes can declare thousands of them, each of which costs a pass over the whole image. Real encoders
    /// write about ten.
    enum JPEGScans {
        private static let most = 500
        /// So many are decoded whatever the size is.
        private static let few = 32
        /// Pixels times scans.
        private static let mostWork = 1 << 31

        /// - Throws: `CodecError.damaged` where there are more than any real file has, or too many for their size.
        static func check(_ reader: ByteReader, size: PixelSize) throws {
            let count = count(reader)
            guard count <= most else { throw CodecError.damaged(.jpeg, reason: "it has more than \(most) scans") }
            let (work, overflow) = (size.area ?? .max).multipliedReportingOverflow(by: count)
            guard count <= few || (!overflow && work <= mostWork) else {
                throw CodecError.damaged(.jpeg, reason: "it has too many scans for its size")
            }
        }

        /// Up to the end marker: what some cameras put behind it, a film or other pictures, is full of bytes that look like
        /// scans. So are profiles and previews, which segments with a length hold.
        private static func count(_ reader: ByteReader) -> Int {
            var count = 0
            var position = 2
            while let found = reader.firstIndex(of: 0xFF, from: position), let marker = reader.byte(found + 1) {
                switch marker {
                case 0xD9:
                    return count
                case 0xFF:
                    position = found + 1
                // In coded data a zero or a restart marker follows each 255. These stand alone.
                case 0, 1, 0xD0...0xD8:
                    position = found + 2
                default:
                    if marker == 0xDA { count += 1 }
                    position = found + 2 + max(2, reader.bigEndian16(found + 2) ?? 2)
                }
            }
            return count
        }
    }
#endif
