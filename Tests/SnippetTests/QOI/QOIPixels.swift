/// The pixels of a QOI file in their order.
struct QOIPixels {
    typealias Pixel = (r: UInt8, g: UInt8, b: UInt8, a: UInt8)

    let bytes: [UInt8]
    private var offset = 0
    private var run = 0
    private var pixel: Pixel = (0, 0, 0, 255)
    private var seen = [Pixel](repeating: (0, 0, 0, 0), count: 64)

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Nil at the end of the data.
    mutating func next() -> Pixel? {
        if run > 0 {
            run -= 1
            return pixel
        }
        guard let tag = byte() else { return nil }
        switch (tag, tag >> 6) {
        case (0xFE, _), (0xFF, _):
            guard let r = byte(), let g = byte(), let b = byte(), let a = tag == 0xFF ? byte() : pixel.a else {
                return nil
            }
            pixel = (r, g, b, a)
        case (_, 0): pixel = seen[Int(tag)]
        case (_, 1): change(tag >> 4 & 3, tag >> 2 & 3, tag & 3, bias: 2)
        case (_, 2):
            guard let more = byte() else { return nil }
            let green = tag & 63
            change(green &+ (more >> 4) &- 8, green, green &+ (more & 15) &- 8, bias: 32)
        default: run = Int(tag & 63)
        }
        seen[(Int(pixel.r) * 3 + Int(pixel.g) * 5 + Int(pixel.b) * 7 + Int(pixel.a) * 11) % 64] = pixel
        return pixel
    }

    private mutating func change(_ r: UInt8, _ g: UInt8, _ b: UInt8, bias: UInt8) {
        pixel = (pixel.r &+ r &- bias, pixel.g &+ g &- bias, pixel.b &+ b &- bias, pixel.a)
    }

    private mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }
}
