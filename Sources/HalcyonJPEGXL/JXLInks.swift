import CHalcyonCodecs
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The black of a picture in inks, and the way of all four to sRGB.
///
/// Cyan, magenta and yellow are its channels of colour, black is a channel beside them, and a sample is what the ink leaves of the light: 0
/// is full (cms_interface.h of libjxl). Inks of more than 8 bits are rounded before they are converted.
final class JXLInks {
    /// One byte for each pixel.
    let black: UnsafeMutableRawBufferPointer
    /// The number of the extra channel of black.
    let channel: Int
    /// Nil if no profile of inks defines it: then the lights are multiplied, as for JPEG and TIFF.
    private let transform: ColorTransform?

    /// Returns nil for a picture that is not in inks.
    ///
    /// - Throws: `BitmapError.outOfMemory`.
    init?(_ pixels: JXLPixels, of decoder: JXLDecoder) throws {
        guard let channel = pixels.header.blackChannel else { return nil }
        self.channel = channel
        if case .icc(_, .cmyk)? = decoder.profile {
            transform = try ColorTransforms.shared.transform(for: decoder.profile)
        } else {
            transform = nil
        }
        let count = pixels.size.area ?? .max
        guard let memory = calloc(1, count) else { throw BitmapError.outOfMemory(bytes: count) }
        black = UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    deinit { free(black.baseAddress) }

    /// Turns the lights and the alpha that libjxl has written into BGRA, not multiplied by alpha.
    ///
    /// - Throws: `CancellationError`.
    func convert(_ pixels: UnsafeMutablePointer<UInt8>, _ size: PixelSize, context: WorkContext) throws {
        guard let blacks = black.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        let (width, ink) = (size.width, transform?.ink ?? halcyon_codec_ink())
        var alphas = [UInt8](repeating: 255, count: width)
        try withExtendedLifetime(transform) {
            try alphas.withUnsafeMutableBufferPointer { alphas in
                for row in 0..<size.height {
                    if row % 64 == 0 { try context.checkCancellation() }
                    let (pixel, black) = (pixels + row * width * 4, blacks + row * width)
                    for x in 0..<width { (alphas[x], pixel[x * 4 + 3]) = (pixel[x * 4 + 3], black[x]) }
                    if let convert = ink.convert {
                        for sample in 0..<width * 4 { pixel[sample] = ~pixel[sample] }
                        convert(ink.context, pixel, pixel, width)
                    } else {
                        halcyon_rgba_to_bgra(pixel, pixel, width, 8)
                        halcyon_premultiply(pixel, width)
                    }
                    for x in 0..<width { pixel[x * 4 + 3] = alphas[x] }
                }
            }
        }
    }
}
