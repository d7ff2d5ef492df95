import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A decoder that hides that it can give rows, so that what it decodes is reduced from a whole bitmap.
struct PlainDecoder: ImageDecoder {
    let decoder: any ImageDecoder

    var formats: [ImageFormat] { decoder.formats }

    func canDecode(_ data: Data) -> Bool { decoder.canDecode(data) }

    func probe(_ data: Data) throws -> ImageInfo { try decoder.probe(data) }

    func colorProfile(of data: Data) -> ColorProfile? { decoder.colorProfile(of: data) }

    func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
        decoder.scaledSize(for: info, atLeast: size)
    }

    func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double) {
        decoder.coverage(of: info, at: native)
    }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try decoder.decode(data, plan: plan, context: context)
    }
}
