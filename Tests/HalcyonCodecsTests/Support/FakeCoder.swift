import Foundation
import HalcyonImage
import HalcyonSystem

@testable import HalcyonCodecs

/// A coder for all data that begins with its signature, which it decodes to one colour.
struct FakeCoder: ImageDecoder, ImageEncoder {
    var format = ImageFormat("fake", fileExtension: "fake", mimeType: "image/x-fake")
    var signature: [UInt8] = Array("FAKE".utf8)
    var size = PixelSize(3, 2)
    var decodedSize: PixelSize?
    var shade: UInt8 = 7

    var formats: [ImageFormat] { [format] }

    func canDecode(_ data: Data) -> Bool { data.starts(with: signature) }

    func probe(_ data: Data) throws -> ImageInfo { ImageInfo(format: format, size: size) }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let size = decodedSize ?? plan.nativeSize
        return try Bitmap(
            size: size, isOpaque: true, pixels: [UInt8](repeating: shade, count: size.width * size.height * 4))
    }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data { Data(signature) + [shade] }
}
