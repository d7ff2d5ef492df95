import CHalcyonCodecs
import CJXL
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The way from the pixels of libjxl to a bitmap.
struct JXLPixels {
    let header: JXLImageHeader
    var size: PixelSize { header.size }
    var hasAlpha: Bool { header.alpha != nil }
    /// Whether the file stores colours that are multiplied by their alpha.
    private var isMultiplied: Bool { header.alpha?.isPremultiplied ?? false }
    /// Whether libjxl divides the colours by their alpha, since they may have to be converted: those of more than 8 bits, and inks. What
    /// is stored is multiplied in the channels of colour alone, without the black.
    var dividesByAlpha: Bool { (isDeep || header.isInk) && isMultiplied }
    /// Whether libjxl delivers words. The colours are then converted before they are rounded to 8 bits.
    var isDeep: Bool { header.isDeep && !header.isInk }

    init(_ header: JXLImageHeader) {
        self.header = header
    }

    /// Decodes the next frame.
    ///
    /// - Parameter converts: whether pixels of more than 8 bits are converted to sRGB.
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`, `CancellationError`.
    func bitmap(of decoder: JXLDecoder, converts: Bool) throws -> Bitmap {
        let output = try JXLOutput(self, of: decoder, converts: converts)
        return try Bitmap(size: size, isOpaque: !hasAlpha) { pixels in
            guard try decoder.next() == JXL_DEC_NEED_IMAGE_OUT_BUFFER else { throw JXLFile.cutOff }
            try output.set(pixels, for: decoder)
            guard try decoder.next() == JXL_DEC_FULL_IMAGE else { throw JXLFile.cutOff }
            try finish(pixels, of: output, context: decoder.context)
        }
    }

    /// Turns what libjxl has written, to `pixels` or beside them, into the pixels of a bitmap.
    ///
    /// - Throws: `CancellationError`.
    func finish(_ pixels: UnsafeMutableRawBufferPointer, of output: JXLOutput, context: WorkContext) throws {
        guard let start = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        let count = pixels.count / 4
        if let words = output.words {
            words.write(to: start, width: size.width)
        } else if let inks = output.inks {
            try inks.convert(start, size, context: context)
        } else {
            halcyon_rgba_to_bgra(start, start, count, 8)
        }
        // libjxl fills the alpha of opaque pictures.
        if hasAlpha, !isMultiplied || dividesByAlpha { halcyon_premultiply(start, count) }
    }
}

/// The memory beside a bitmap that libjxl writes a picture to.
struct JXLOutput {
    let words: JXLWords?
    let inks: JXLInks?

    /// - Throws: `BitmapError.outOfMemory`.
    init(_ pixels: JXLPixels, of decoder: JXLDecoder, converts: Bool) throws {
        words = try JXLWords(pixels, of: decoder, converts: converts)
        inks = try JXLInks(pixels, of: decoder)
    }

    /// Has libjxl write the next frame, to `pixels` unless there are words.
    ///
    /// - Throws: `CodecError.damaged`.
    func set(_ pixels: UnsafeMutableRawBufferPointer, for decoder: JXLDecoder) throws {
        try decoder.setOutput(words?.words ?? pixels, words == nil ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16)
        if let inks { try decoder.setOutput(inks.black, ofChannel: inks.channel) }
    }
}

/// Memory for pixels of 16 bits, with their conversion to sRGB.
final class JXLWords {
    let words: UnsafeMutableRawBufferPointer
    private let transform: ColorTransform?

    /// Returns nil for pixels of 8 bits.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    init?(_ pixels: JXLPixels, of decoder: JXLDecoder, converts: Bool) throws {
        guard pixels.isDeep else { return nil }
        transform = converts ? try ColorTransforms.shared.transform(for: decoder.profile, isDeep: true) : nil
        let count = 0.adding(2, times: pixels.size.bitmapBytes)
        guard let memory = calloc(1, count) else { throw BitmapError.outOfMemory(bytes: count) }
        words = UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    deinit { free(words.baseAddress) }

    func write(to pixels: UnsafeMutablePointer<UInt8>, width: Int) {
        guard let start = words.baseAddress else { return }
        let deep = transform?.deep ?? halcyon_codec_deep()
        withExtendedLifetime(transform) {
            for row in 0..<words.count / (width * 8) {
                let (source, target) = (start + row * width * 8, pixels + row * width * 4)
                if let convert = deep.convert {
                    convert(deep.context, source.assumingMemoryBound(to: UInt16.self), target, width)
                } else {
                    halcyon_rgba_to_bgra(source.assumingMemoryBound(to: UInt8.self), target, width, 16)
                }
            }
        }
    }
}
