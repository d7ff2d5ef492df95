import CHalcyonCodecs
import Foundation
import HalcyonImage

/// A PNG whose rows can be read without libpng, in a fraction of its time: neither interlaced nor with 16-bit channels, and with
/// chunks that libpng accepts. All other files are libpng's, and so is any file with damaged pixels: a file is accepted
/// and refused as libpng does it, and has the same pixels.
package struct PNGPlain {
    private let kind: Int
    private let bits: Int
    /// The offset of the first IDAT chunk, and that behind the last one.
    private var pixels = 0..<0
    /// The bytes of a PLTE and a tRNS chunk.
    private var palette: [UInt8] = []
    private var alpha: [UInt8] = []

    /// - Parameter size: the size that the file is expected to have.
    /// - Returns: nil if the file is for libpng.
    package init?(_ reader: ByteReader, size: PixelSize) {
        guard reader.matches(APNGFrameReader.signature, at: 0), let kind = reader.byte(25), let bits = reader.byte(24),
            let channels = Self.channels[kind], bits == 8 || (channels == 1 && [1, 2, 4].contains(bits)),
            // The methods of compression, filtering and interlacing.
            reader.part(at: 26, length: 3).bytes.elementsEqual([0, 0, 0])
        else { return nil }
        self.kind = kind
        self.bits = bits
        var isHeader = true
        var hasEnded = false
        for chunk in PNGChunks(reader) {
            if isHeader {
                guard chunk.isNamed("IHDR"), chunk.declaredLength == 13, reader.bigEndian32(16) == size.width,
                    reader.bigEndian32(20) == size.height
                else { return nil }
                isHeader = false
                continue
            }
            guard reader.has(chunk.declaredLength + 12, at: chunk.offset), take(chunk, size: size) else { return nil }
            hasEnded = chunk.isNamed("IEND")
            if hasEnded { break }
        }
        guard hasEnded, !pixels.isEmpty, kind != 3 || !palette.isEmpty else { return nil }
    }

    /// The number of channels by colour type.
    private static let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]

    /// The length that libpng allows any chunk is twice as much.
    private static let longest = 4_000_000

    /// Takes a chunk behind the header.
    ///
    /// - Returns: whether libpng accepts it there, and it changes no pixel in a way that is not known here.
    private mutating func take(_ chunk: PNGChunks.Chunk, size: PixelSize) -> Bool {
        if chunk.isNamed("IDAT") {
            // Chunks of pixels that others interrupt are an error that libpng tolerates in its own way.
            guard pixels.isEmpty || pixels.upperBound == chunk.offset else { return false }
            // libpng allows a chunk of pixels as many bytes as there are pixels, and more, but no sign bit.
            guard chunk.declaredLength <= max(Self.longest, 0.adding(size.width, times: size.height)),
                chunk.declaredLength <= Int(Int32.max)
            else { return false }
            pixels = (pixels.isEmpty ? chunk.offset : pixels.lowerBound)..<chunk.end
            return true
        }
        if chunk.isNamed("IEND") { return chunk.declaredLength == 0 }
        if chunk.isNamed("PLTE") {
            // A second one, or one of grey, is an error; in RGB it is a suggestion.
            let length = chunk.declaredLength
            guard pixels.isEmpty, palette.isEmpty, alpha.isEmpty, [2, 3, 6].contains(kind), length > 0,
                length.isMultiple(of: 3), length <= (kind == 3 ? 3 << bits : 768)
            else { return false }
            palette = [UInt8](chunk.body.bytes)
            return true
        }
        if chunk.isNamed("tRNS") {
            // In grey and RGB, one colour is transparent.
            guard kind == 3, pixels.isEmpty, alpha.isEmpty, chunk.declaredLength > 0,
                chunk.declaredLength <= palette.count / 3
            else { return false }
            alpha = [UInt8](chunk.body.bytes)
            return true
        }
        return chunk.declaredLength <= Self.longest && chunk.isAncillary
    }

    /// Lends the description for C.
    package func withPointer<Result>(_ body: (UnsafePointer<halcyon_png_plain>) -> Result) -> Result {
        colors.withUnsafeBufferPointer { colors in
            let plain = halcyon_png_plain(
                channels: Int32(Self.channels[kind] ?? 0), bits: Int32(bits), colors: colors.baseAddress,
                start: pixels.lowerBound, end: pixels.upperBound)
            return withUnsafePointer(to: plain, body)
        }
    }

    /// The colours of the values of a single channel, as premultiplied BGRA.
    private var colors: [UInt32] {
        guard Self.channels[kind] == 1 else { return [] }
        // libpng shows values without a colour as black.
        var colors = [UInt32](repeating: 0xFF00_0000, count: 256)
        if kind == 3 {
            for index in 0..<palette.count / 3 {
                let color = palette[index * 3..<index * 3 + 3].reduce(0) { $0 << 8 | UInt32($1) }
                colors[index] = color | (index < alpha.count ? UInt32(alpha[index]) : 255) << 24
            }
            colors.withUnsafeMutableBytes {
                halcyon_premultiply($0.baseAddress?.assumingMemoryBound(to: UInt8.self), 256)
            }
        } else {
            let highest = UInt32(1) << UInt32(bits) - 1
            for value in 0...highest { colors[Int(value)] = 0xFF00_0000 | value * 255 / highest * 0x1_0101 }
        }
        return colors
    }
}
