import Foundation
import Halcyon
import HalcyonCodecs

extension ImageFormat {
    static let farbfeld = ImageFormat("farbfeld", fileExtension: "ff", mimeType: "image/x-farbfeld")
}

/// The format of the suckless project: 16 bytes of header, then four channels of 16 bits for each pixel.
struct FarbfeldCoder: ImageDecoder, ImageEncoder {
    let formats = [ImageFormat.farbfeld]

    func canDecode(_ data: Data) -> Bool { data.starts(with: Data("farbfeld".utf8)) }

    func probe(_ data: Data) throws -> ImageInfo {
        let header = [UInt8](data.prefix(16))
        guard header.count == 16 else { throw damaged("its header is cut off") }
        func number(_ range: Range<Int>) -> Int { header[range].reduce(0) { $0 << 8 | Int($1) } }
        return ImageInfo(
            format: .farbfeld, size: PixelSize(number(8..<12), number(12..<16)), hasAlpha: true, bitsPerChannel: 16)
    }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let (size, stored) = (plan.nativeSize, [UInt8](data.dropFirst(16)))
        guard stored.count / 8 >= size.width * size.height else { throw damaged("it was cut off") }
        var pixels = [UInt8]()
        for channel in 0..<size.width * size.height * 4 {
            if channel % 65_536 == 0 { try context.checkCancellation() }
            // The upper byte of the 16 bits.
            pixels.append(stored[channel * 2])
        }
        return try Image(width: size.width, height: size.height, pixels: pixels, layout: .rgba).bitmap
    }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        var data = Data("farbfeld".utf8)
        for side in [image.width, image.height] {
            withUnsafeBytes(of: UInt32(side).bigEndian) { data.append(contentsOf: $0) }
        }
        for (index, channel) in try image.pixels(layout: .rgba).enumerated() {
            if index % 65_536 == 0 { try context.checkCancellation() }
            data.append(contentsOf: [channel, channel])
        }
        return data
    }

    private func damaged(_ reason: String) -> CodecError { .damaged(.farbfeld, reason: reason) }
}
