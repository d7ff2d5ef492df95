import Foundation
import HalcyonImage
import HalcyonSystem

/// An animation that grows: its first frame once that is whole, then with those behind it.
final class ArrivingFrames<Decoder: AnimatedImageDecoder> {
    var data: Data
    private let decoder: Decoder
    private let options: DecodeOptions
    /// Decoded once, whatever the number of previews.
    private var first: Bitmap?

    init(_ decoder: Decoder, data: Data, options: DecodeOptions) {
        self.decoder = decoder
        self.data = data
        self.options = options
    }

    /// Nil where no more than `shown` frames are whole; the image's `info.frameCount` says how many are.
    func image(moreThan shown: Int, context: WorkContext) throws -> Image? {
        // Before the first frame's data the header alone may not be readable.
        guard var info = try? decoder.probe(data) else { return nil }
        try options.limits.check(info, metadataBytes: decoder.metadataByteCount(data))
        guard let reader = try? decoder.frames(of: data, info: info), reader.frames.count > shown else { return nil }
        info.frameCount = reader.frames.count
        info.isPreview = true
        let plan = try DecodePlan(info: info, options: options, decoder: decoder)
        let color = ColorTransforms.shared.transform(for: plan, of: data, decoder)
        let bitmap = try first ?? firstFrame(reader, plan: plan, color: color, context: context)
        first = bitmap
        guard reader.frames.count > 1, !options.firstFrameOnly else { return Image(bitmap: bitmap, info: info) }
        let animation = try AnimatedImage(
            source: DecodedFrames(reader, plan: plan, color: color, dataCost: data.count), size: plan.finalSize,
            durations: reader.frames.map(\.duration), loopCount: info.loopCount ?? 1)
        return Image(bitmap: bitmap, info: info, animation: animation)
    }

    private func firstFrame(
        _ reader: any FrameReader, plan: DecodePlan, color: ColorTransform?, context: WorkContext
    ) throws -> Bitmap {
        var compositor = FrameCompositor(reader, size: plan.storedSize)
        let canvas = try compositor.canvas(at: 0, context: context)
        return try CoderRegistry.finish(canvas, plan: plan, color: color, context: context)
    }
}
