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
