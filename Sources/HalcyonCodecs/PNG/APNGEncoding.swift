import Foundation
import HalcyonImage
import HalcyonSystem

extension PNGCoder: AnimatedImageEncoder {
    /// The memory of two frames, a cropped part of one, and its encoded form.
    package func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
        0.adding(5, times: animation.size.bitmapBytes)
    }

    /// Writes a lossless APNG: the first frame as a whole, of every other frame the part that changes. Durations
    /// are rounded to milliseconds, above 65 s to hundredths of a second, and above 655 s to seconds; the maximum
    /// is 65,535 s.
    package func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        var writer = try APNGWriter(animation, keepsAlpha: !animation.isOpaque(context), context: context)
        for index in 1..<max(1, animation.frameCount) {
            try writer.append(try animation.frame(at: index, context: context), animation.durations[index])
        }
        return writer.finished()
    }
}

/// Assembles an APNG from the PNGs of single frames.
private struct APNGWriter {
    private let context: WorkContext
    private let keepsAlpha: Bool
    private var file = Data()
    private var sequence: UInt32 = 0
    private var last: Bitmap

    init(_ animation: AnimatedImage, keepsAlpha: Bool, context: WorkContext) throws {
        self.context = context
        self.keepsAlpha = keepsAlpha
        last = try animation.frame(at: 0, context: context)
        let png = try PNGCoder.encode(last, keepsAlpha: keepsAlpha, context: context)
        let plays = UInt32(clamping: animation.loopCount)
        let rect = PixelRect(x: 0, y: 0, width: last.width, height: last.height)
        png.read { reader in
            file.append(contentsOf: reader.bytes.prefix(8))
            for chunk in PNGChunks(reader) {
                if chunk.isNamed("IEND") { break }
                if chunk.isNamed("IDAT"), sequence == 0 {
                    let counts = Self.bytes(UInt32(clamping: animation.frameCount)) + Self.bytes(plays)
                    APNGFrameReader.append(Data("acTL".utf8) + counts, to: &file)
                    appendControl(rect, animation.durations[0])
                }
                file.append(contentsOf: reader.bytes[chunk.offset..<chunk.end])
            }
        }
    }

    mutating func append(_ frame: Bitmap, _ duration: Duration) throws {
        // A frame has at least one pixel, even if nothing changes.
        let rect = FrameDifference.rect(from: last, to: frame) ?? PixelRect(x: 0, y: 0, width: 1, height: 1)
        last = frame
        let png = try PNGCoder.encode(try frame.cropped(to: rect), keepsAlpha: keepsAlpha, context: context)
        appendControl(rect, duration)
        png.read { reader in
            for chunk in PNGChunks(reader) where chunk.isNamed("IDAT") {
                let body = Data(reader.bytes[chunk.bodyRange])
                APNGFrameReader.append(Data("fdAT".utf8) + nextNumber() + body, to: &file)
            }
        }
    }

    func finished() -> Data {
        var file = file
        APNGFrameReader.append(Data("IEND".utf8), to: &file)
        return file
    }

    private mutating func appendControl(_ rect: PixelRect, _ duration: Duration) {
        var body = Data("fcTL".utf8) + nextNumber()
        for value in [rect.size.width, rect.size.height, rect.x, rect.y] {
            body += Self.bytes(UInt32(clamping: value))
        }
        let (numerator, denominator) = Self.delay(duration)
        body += Self.bytes(numerator) + Self.bytes(denominator)
        // The disposal (0, keep the frame) and the blend operation (0, replace the pixels of the canvas).
        body += [0, 0]
        APNGFrameReader.append(body, to: &file)
    }

    private static func delay(_ duration: Duration) -> (UInt16, UInt16) {
        let milliseconds = duration / .milliseconds(1)
        for denominator in [1000.0, 100, 1] {
            let numerator = (milliseconds * denominator / 1000).rounded()
            if numerator <= 65_535 { return (UInt16(max(0, numerator)), UInt16(denominator)) }
        }
        return (.max, 1)
    }

    private mutating func nextNumber() -> Data {
        defer { sequence += 1 }
        return Self.bytes(sequence)
    }

    private static func bytes(_ value: some FixedWidthInteger) -> Data {
        withUnsafeBytes(of: value.bigEndian) { Data($0) }
    }
}
