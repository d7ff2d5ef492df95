/// A histogram of pixel colours, weighted by alpha, with 16 steps a channel.
struct ColorHistogram {
    /// The sum of the pixels in each cube of the steps.
    private var bins = [ColorSum](repeating: ColorSum(), count: 4096)

    /// Adds the premultiplied pixel at `offset`. Transparent pixels have no colour and are skipped.
    mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let alpha = Int(bytes[offset + 3])
        guard alpha > 0 else { return }
        func step(_ channel: Int) -> Int {
            // The channel before premultiplication, rounded to the nearest.
            min(255, (Int(bytes[offset + channel]) * 255 + alpha / 2) / alpha) >> 4
        }
        bins[step(2) << 8 | step(1) << 4 | step(0)].add(bytes, at: offset)
    }

    /// Returns the colours, sorted by the alpha-weighted number of their pixels, largest first.
    ///
    /// The largest bin absorbs each bin whose average is at most 32 of 255 away from its own, as a straight line between
    /// two points of the colour cube; then the same is done with the largest of the remaining bins. That hides the edges of
    /// the bins, which may cut through a colour. Among equal ones the darker red comes first, then the darker green, then
    /// the darker blue.
    func colors(count: Int) -> [Color] {
        var rest = bins.indices.filter { bins[$0].alpha > 0 }
            .sorted { (bins[$1].alpha, $0) < (bins[$0].alpha, $1) }
            .map { (sum: bins[$0], color: bins[$0].color) }
        var groups: [ColorSum] = []
        while let first = rest.first {
            var group = ColorSum()
            rest.removeAll { bin in
                guard Self.isNear(bin.color, first.color) else { return false }
                group.add(bin.sum)
                return true
            }
            groups.append(group)
        }
        let order = groups.indices.sorted { (groups[$1].alpha, $0) < (groups[$0].alpha, $1) }
        return order.prefix(max(count, 0)).map { groups[$0].color }
    }

    private static func isNear(_ one: Color, _ other: Color) -> Bool {
        let (red, green, blue) = (one.red - other.red, one.green - other.green, one.blue - other.blue)
        let distance = 32.0 / 255
        return red * red + green * green + blue * blue <= distance * distance
    }
}

/// An exact sum of premultiplied pixels.
struct ColorSum {
    private(set) var alpha: UInt64 = 0
    private var blue: UInt64 = 0
    private var green: UInt64 = 0
    private var red: UInt64 = 0
    private var count: UInt64 = 0

    /// Adds the four bytes of the pixel at `offset`.
    mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        blue += UInt64(bytes[offset])
        green += UInt64(bytes[offset + 1])
        red += UInt64(bytes[offset + 2])
        alpha += UInt64(bytes[offset + 3])
        count += 1
    }

    mutating func add(_ other: ColorSum) {
        blue += other.blue
        green += other.green
        red += other.red
        alpha += other.alpha
        count += other.count
    }

    /// The average colour, in which a pixel counts as much as it is opaque. `.clear` if every pixel is transparent.
    var color: Color {
        guard alpha > 0 else { return .clear }
        func channel(_ sum: UInt64) -> Double { min(1, Double(sum) / Double(alpha)) }
        return Color(
            red: channel(red), green: channel(green), blue: channel(blue), alpha: Double(alpha) / Double(count * 255))
    }
}
