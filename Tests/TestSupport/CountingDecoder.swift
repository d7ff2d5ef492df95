import Foundation
import Halcyon
import HalcyonCodecs

/// The built-in decoders, with each decode of pixels counted.
struct CountingDecoder: AnimatedImageDecoder {
    let decodes: Counter
    private let coders = CoderRegistry.standard()

    init(decodes: Counter) {
        self.decodes = decodes
    }

    var formats: [ImageFormat] { coders.decodableFormats }

    func canDecode(_ data: Data) -> Bool { coders.canDecode(data) }

    func probe(_ data: Data) throws -> ImageInfo { try decoder(data).probe(data) }

    func embeddedThumbnail(in data: Data) -> Data? { (try? decoder(data))?.embeddedThumbnail(in: data) }

    func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize { info.storedSize }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        decodes.increment()
        return try decoder(data).decode(data, plan: plan, context: context)
    }

    func frames(of data: Data, info: ImageInfo) throws -> any FrameReader {
        guard let decoder = try decoder(data) as? any AnimatedImageDecoder else {
            throw CodecError.notAnImage("animated")
        }
        return try decoder.frames(of: data, info: info)
    }

    private func decoder(_ data: Data) throws -> any ImageDecoder {
        guard let decoder = coders.decoder(for: data) else { throw CodecError.notAnImage("nothing") }
        return decoder
    }
}
