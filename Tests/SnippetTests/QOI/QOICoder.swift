import Foundation
import Halcyon
import HalcyonCodecs

extension ImageFormat {
    static let qoi = ImageFormat("qoi", fileExtension: "qoi", mimeType: "image/qoi")
}

/// The "Quite OK Image" format: 14 bytes of header, then runs, differences and whole pixels, then 8 bytes of end.
struct QOICoder: ImageDecoder, ImageEncoder {
    let formats = [ImageFormat.qoi]

    func canDecode(_ data: Data) -> Bool { data.starts(with: Data("qoif".utf8)) }

    func probe(_ data: Data) throws -> ImageInfo {
        let header = [UInt8](data.prefix(14))
        guard header.count == 14 else { throw damaged("its header is cut off") }
        func number(_ range: Range<Int>) -> Int { header[range].reduce(0) { $0 << 8 | Int($1) } }
        return ImageInfo(
            format: .qoi, size: PixelSize(number(4..<8), number(8..<12)), hasAlpha: header[12] == 4)
    }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        var reader = QOIPixels(bytes: [UInt8](data.dropFirst(14)))
        var pixels = [UInt8]()
        for index in 0..<plan.nativeSize.width * plan.nativeSize.height {
            if index % 65_536 == 0 { try context.checkCancellation() }
            guard let pixel = reader.next() else { throw damaged("it was cut off") }
            pixels += [pixel.r, pixel.g, pixel.b, pixel.a]
        }
        let size = plan.nativeSize
        return try Image(width: size.width, height: size.height, pixels: pixels, layout: .rgba).bitmap
    }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        var data = Data("qoif".utf8)
        for side in [image.width, image.height] {
            withUnsafeBytes(of: UInt32(side).bigEndian) { data.append(contentsOf: $0) }
        }
        data.append(contentsOf: [4, 0])
        let pixels = try image.pixels(layout: .rgba)
        for pixel in stride(from: 0, to: pixels.count, by: 4) {
            if pixel % 65_536 == 0 { try context.checkCancellation() }
            data.append(0xFF)
            data.append(contentsOf: pixels[pixel..<pixel + 4])
        }
        return data + Data([0, 0, 0, 0, 0, 0, 0, 1])
    }

    private func damaged(_ reason: String) -> CodecError { .damaged(.qoi, reason: reason) }
}
