#if BMP
    import HalcyonImage

    /// The memory that a BMP is decoded into, addressed by the file's row numbers.
    struct BMPCanvas {
        let pixels: UnsafeMutableBufferPointer<UInt32>
        let width: Int
        let height: Int
        private let isTopDown: Bool

        init(_ pixels: UnsafeMutableBufferPointer<UInt32>, header: BMPHeader) {
            self.pixels = pixels
            (width, height) = (header.size.width, header.size.height)
            isTopDown = header.isTopDown
        }

        /// Returns the index of the first pixel of a row of the file. The row must exist.
        func start(ofRow row: Int) -> Int { (isTopDown ? row : height - 1 - row) * width }
    }
#endif
