/// Writes pixels as the shortest of QOI's operations.
struct QOIWriter {
    private let hasAlpha: Bool
    private(set) var bytes: [UInt8] = []
    private var run = 0
    private var last = QOIPixel(alpha: 255)
    private var seen = [QOIPixel](repeating: QOIPixel(), count: 64)

    init(hasAlpha: Bool) {
        self.hasAlpha = hasAlpha
    }

    /// Returns the bytes and goes on without them.
    mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// Appends pixels of red, green, blue and alpha, not premultiplied.
    mutating func write(_ pixels: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: pixels.count - 3, by: 4) {
            write(
                QOIPixel(
                    red: pixels[offset], green: pixels[offset + 1], blue: pixels[offset + 2],
                    alpha: hasAlpha ? pixels[offset + 3] : 255))
        }
    }

    private mutating func write(_ pixel: QOIPixel) {
        guard pixel != last else {
            run += 1
            if run == QOITag.longestRun { endRun() }
            return
        }
        endRun()
        let slot = pixel.slot
        if seen[slot] == pixel {
            bytes.append(QOITag.slot | UInt8(slot))
        } else {
            seen[slot] = pixel
            writeDifference(of: pixel)
        }
        last = pixel
    }

    /// Writes the run that is under way.
    mutating func endRun() {
        guard run > 0 else { return }
        bytes.append(QOITag.run | UInt8(run - 1))
        run = 0
    }

    private mutating func writeDifference(of pixel: QOIPixel) {
        let (red, green, blue) = (pixel.red &- last.red, pixel.green &- last.green, pixel.blue &- last.blue)
        guard pixel.alpha == last.alpha else {
            bytes += [QOITag.colorAndAlpha, pixel.red, pixel.green, pixel.blue, pixel.alpha]
            return
        }
        let small = (red &+ 2, green &+ 2, blue &+ 2)
        if small.0 < 4, small.1 < 4, small.2 < 4 {
            bytes.append(QOITag.small | small.0 << 4 | small.1 << 2 | small.2)
            return
        }
        let luma = (red &- green &+ 8, green &+ 32, blue &- green &+ 8)
        if luma.0 < 16, luma.1 < 64, luma.2 < 16 {
            bytes += [QOITag.luma | luma.1, luma.0 << 4 | luma.2]
        } else {
            bytes += [QOITag.color, pixel.red, pixel.green, pixel.blue]
        }
    }
}
