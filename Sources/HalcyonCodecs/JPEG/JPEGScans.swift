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
            var count = 0
            var position = 0
            // In coded data a zero or a restart marker follows each 255, so that this pair is a marker. In front of the
            // pixels it may stand in a preview as well, of one scan or a few.
            while let found = reader.firstIndex(of: 0xFF, from: position) {
                if reader.byte(found + 1) == 0xDA { count += 1 }
                position = found + 1
            }
            guard count <= most else { throw CodecError.damaged(.jpeg, reason: "it has more than \(most) scans") }
            let (work, overflow) = (size.area ?? .max).multipliedReportingOverflow(by: count)
            guard count <= few || (!overflow && work <= mostWork) else {
                throw CodecError.damaged(.jpeg, reason: "it has too many scans for its size")
            }
        }
    }
#endif
