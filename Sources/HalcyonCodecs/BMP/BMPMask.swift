#if BMP
    /// The bits of one channel in a pixel.
    struct BMPMask {
        private let shift: Int
        /// The largest value of the channel; 0 if the channel is absent.
        private let top: Int
        /// The 8-bit value of each channel value, for channels of at most 10 bits; otherwise empty.
        private let table: [UInt8]

        init(_ mask: Int) {
            let shift = mask == 0 ? 0 : mask.trailingZeroBitCount
            let top = mask >> shift
            self.shift = shift
            self.top = top
            table = top > 0 && top < 1024 ? (0...top).map { Self.scaled($0, top) } : []
        }

        /// The number of bits.
        var width: Int { Int.bitWidth - top.leadingZeroBitCount }

        /// Returns the channel of a pixel, rounded to the nearest of 8 bits.
        func value(_ pixel: Int) -> Int {
            let value = pixel >> shift & top
            return Int(table.isEmpty ? Self.scaled(value, top) : table[value])
        }

        private static func scaled(_ value: Int, _ top: Int) -> UInt8 {
            top == 0 ? 0 : UInt8((value * 255 + top / 2) / top)
        }
    }
#endif
