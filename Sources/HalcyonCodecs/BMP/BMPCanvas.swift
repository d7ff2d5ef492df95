#if BMP
    import HalcyonImage

    /// The memory that a BMP is decoded into, addressed by the rows as the file has them.
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

        /// Where a row of the file begins. The row must be one.
        func start(ofRow row: Int) -> Int { (isTopDown ? row : height - 1 - row) * width }
    }
#endif
