#if BMP
    /// The bits of one channel in a pixel.
    struct BMPMask {
        private let shift: Int
        /// The largest value, 0 where the channel is not there.
        private let top: Int
        /// What becomes of each value, for channels that are narrow enough.
        private let table: [UInt8]

        init(_ mask: Int) {
            let shift = mask == 0 ? 0 : mask.trailingZeroBitCount
            let top = mask >> shift
            self.shift = shift
            self.top = top
            table = top > 0 && top < 1024 ? (0...top).map { Self.scaled($0, top) } : []
        }

        var width: Int { Int.bitWidth - top.leadingZeroBitCount }

        /// The channel of a pixel, to the nearest of 8 bits.
        func value(_ pixel: Int) -> Int {
            let value = pixel >> shift & top
            return Int(table.isEmpty ? Self.scaled(value, top) : table[value])
        }

        private static func scaled(_ value: Int, _ top: Int) -> UInt8 {
            top == 0 ? 0 : UInt8((value * 255 + top / 2) / top)
        }
    }
#endif
