import CHalcyonSVG
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A coder that hands drawings to librsvg without a look at them, as the library did before it computed their cost.
struct UnguardedCoder: ImageDecoder {
    static let mark = Data("UNGUARDED ".utf8)

    var formats: [ImageFormat] { [.svg] }

    func canDecode(_ data: Data) -> Bool { data.starts(with: Self.mark) }

    func probe(_ data: Data) throws -> ImageInfo { ImageInfo(format: .svg, size: PixelSize(200, 200)) }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let drawing = [UInt8](data.dropFirst(Self.mark.count))
        return try Bitmap(size: plan.nativeSize, isOpaque: false) { pixels in
            pixels.initializeMemory(as: UInt8.self, repeating: 0)
            let bitmap = halcyon_codec_bitmap(
                pixels: pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(plan.nativeSize.width),
                height: Int32(plan.nativeSize.height))
            var call = halcyon_codec_call()
            var document: OpaquePointer?
            guard halcyon_svg_open(drawing, drawing.count, true, &document, &call) == HALCYON_CODEC_OK, let document
            else {
                throw CodecError.damaged(.svg, reason: "librsvg refuses it")
            }
            defer { halcyon_svg_close(document) }
            guard halcyon_svg_draw(document, bitmap, &call) == HALCYON_CODEC_OK else {
                throw CodecError.damaged(.svg, reason: "librsvg refuses it")
            }
        }
    }
}
