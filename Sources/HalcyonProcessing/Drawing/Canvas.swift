import CHalcyonPixels
import HalcyonImage
import HalcyonSystem

/// The memory of a new bitmap, for drawing by rows.
struct Canvas {
    private let pixels: UnsafeMutableBufferPointer<UInt32>
    let size: PixelSize

    init(_ memory: UnsafeMutableRawBufferPointer, size: PixelSize) {
        pixels = memory.bindMemory(to: UInt32.self)
        self.size = size
    }

    /// The pixels of a row.
    subscript(row: Int) -> UnsafeMutableBufferPointer<UInt32> {
        UnsafeMutableBufferPointer(rebasing: pixels[(row * size.width)..<((row + 1) * size.width)])
    }

    /// - Throws: `CancellationError` within 16 rows of the cancellation.
    mutating func fill(_ pixel: UInt32, context: WorkContext) throws {
        for row in 0..<size.height {
            if row % 16 == 0 { try context.checkCancellation() }
            self[row].update(repeating: pixel)
        }
    }

    /// Draws a bitmap that lies inside of the canvas, either over the present pixels by its alpha or in place of
    /// them.
    ///
    /// - Throws: `CancellationError` within 16 rows of the cancellation.
    mutating func draw(_ bitmap: Bitmap, x: Int, y: Int, over: Bool, context: WorkContext) throws {
        try bitmap.withPixels { bytes in
            guard let source = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            for start in stride(from: 0, to: bitmap.height, by: 16) {
                try context.checkCancellation()
                let target = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(self[y + start])[(x * 4)...])
                halcyon_draw(
                    target.baseAddress?.assumingMemoryBound(to: UInt8.self), size.width * 4,
                    source + start * bitmap.bytesPerRow, bitmap.width, min(16, bitmap.height - start),
                    over && !bitmap.isOpaque)
            }
        }
    }
}

extension Color {
    /// The colour as a premultiplied pixel, blue in the lowest byte.
    var packed: UInt32 {
        let color = clamped
        func byte(_ value: Double) -> UInt32 { UInt32((value * 255).rounded()) }
        let alpha = color.alpha
        return byte(color.blue * alpha) | byte(color.green * alpha) << 8 | byte(color.red * alpha) << 16
            | byte(alpha) << 24
    }

    /// - Throws: `ProcessingError.invalidArgument` if a channel is not finite.
    func validate(processor: String) throws(ProcessingError) {
        guard isFinite else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "a channel of the colour is not finite")
        }
    }
}
