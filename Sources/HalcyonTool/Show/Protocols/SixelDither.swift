import Halcyon

/// Floyd and Steinberg's dithering: each pixel gets the nearest colour, and its neighbours get the rest.
struct SixelDither {
    private let colors: [SIMD4<Int32>]
    private let clear: Int?

    init(_ colors: [(red: UInt8, green: UInt8, blue: UInt8)], clear: Int?) {
        self.colors = colors.map { SIMD4(Int32($0.blue), Int32($0.green), Int32($0.red), 0) }
        self.clear = clear
    }

    /// Replaces the colour indices of a bitmap's pixels, but not those that are clear.
    ///
    /// Cost: two rows of errors, and one search for each of the 32,768 shades that occur.
    func apply(to bitmap: Bitmap, _ indices: inout [UInt8]) {
        guard colors.count > (clear == nil ? 0 : 1) else { return }
        let width = bitmap.width
        // One column more on either side, so that the edges need no checks.
        var row = [SIMD4<Int32>](repeating: .zero, count: width + 2)
        var below = row
        var found = [Int16](repeating: -1, count: 1 << 15)
        bitmap.withPixels { bytes in
            for y in 0..<bitmap.height {
                for x in 0..<width {
                    let place = y * width + x
                    if let clear, Int(indices[place]) == clear { continue }
                    let pixel = Self.straight(bytes, place * 4)
                    // In sixteenths, as the errors are.
                    let wanted = (pixel &+ ((row[x + 1] &+ 8) &>> 4)).clamped(
                        lowerBound: .zero, upperBound: SIMD4(repeating: 255))
                    let index = nearest(wanted, &found)
                    indices[place] = UInt8(index)
                    let error = wanted &- colors[index]
                    row[x + 2] &+= error &* 7
                    below[x] &+= error &* 3
                    below[x + 1] &+= error &* 5
                    below[x + 2] &+= error
                }
                (row, below) = (below, row)
                for x in below.indices { below[x] = .zero }
            }
        }
    }

    /// The blue, green and red of a pixel without its alpha.
    private static func straight(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> SIMD4<Int32> {
        let color = SIMD4(Int32(bytes[place]), Int32(bytes[place + 1]), Int32(bytes[place + 2]), 0)
        let alpha = Int32(bytes[place + 3])
        guard alpha > 0, alpha < 255 else { return color }
        return (color &* 255 &+ alpha / 2) / alpha
    }

    private func nearest(_ color: SIMD4<Int32>, _ found: inout [Int16]) -> Int {
        let shade = Int(color[0] >> 3) << 10 | Int(color[1] >> 3) << 5 | Int(color[2] >> 3)
        if found[shade] >= 0 { return Int(found[shade]) }
        var (best, least) = (0, Int32.max)
        for (index, candidate) in colors.enumerated() where index != clear {
            let difference = candidate &- color
            let distance = (difference &* difference).wrappedSum()
            if distance < least { (best, least) = (index, distance) }
        }
        found[shade] = Int16(best)
        return best
    }
}
