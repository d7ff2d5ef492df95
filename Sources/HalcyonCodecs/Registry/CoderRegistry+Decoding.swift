import Foundation
import HalcyonImage
import HalcyonSystem

extension CoderRegistry {
    /// Reads a file's header: the first 64 KiB are enough for most files.
    ///
    /// - Throws: `CodecError.notAnImage`, `.unsupportedFormat` or `.damaged`.
    public func probe(_ data: Data) throws -> ImageInfo {
        try requireDecoder(for: data).probe(data)
    }

    /// Decodes data to an upright sRGB image at the size that the options ask for.
    ///
    /// Of an animation the first frame is decoded, and the image's `animation` gives the others.
    ///
    /// The header is checked against the limits before anything is allocated. Cost: a decode at the smallest size
    /// that the format's decoder can scale to by itself, then one reduction.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public func decode(
        _ data: Data, options: DecodeOptions = DecodeOptions(), context: WorkContext = .uncancellable
    ) throws -> Image {
        let decoder = try requireDecoder(for: data)
        let plan = try Self.plan(data, decoder: decoder, options: options)
        return try Self.decode(data, decoder: decoder, plan: plan, context: context)
    }

    /// What `decode` would do with this data: for a budget to be reserved, and to let equal decodes join.
    ///
    /// - Throws: what `decode` throws before it reads pixels.
    public func plan(_ data: Data, options: DecodeOptions = DecodeOptions()) throws -> DecodePlan {
        try Self.plan(data, decoder: try requireDecoder(for: data), options: options)
    }

    /// - Throws: `CodecError.notAnImage` or `.unsupportedFormat`.
    func requireDecoder(for data: Data) throws -> any ImageDecoder {
        if let decoder = decoder(for: data) { return decoder }
        switch FormatSniffer.sniff(data) {
        case .image(let format): throw CodecError.unsupportedFormat(format)
        case .other(let what): throw CodecError.notAnImage(what)
        }
    }

    private static func plan(
        _ data: Data, decoder: any ImageDecoder, options: DecodeOptions
    ) throws -> DecodePlan {
        let info = try decoder.probe(data)
        try options.limits.check(info, metadataBytes: decoder.metadataByteCount(data))
        return try DecodePlan(info: info, options: options, decoder: decoder)
    }

    static func decode(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, context: WorkContext
    ) throws -> Image {
        try context.checkCancellation()
        let native = try decoder.decode(data, plan: plan, context: context)
        guard native.size == plan.nativeSize else {
            throw CodecError.damaged(
                plan.info.format, reason: "it decoded to \(native.size) instead of \(plan.nativeSize)")
        }
        let bitmap = try finish(native, plan: plan, context: context)
        let animation = try animation(data, decoder: decoder, plan: plan, context: context)
        return Image(bitmap: bitmap, info: plan.info, animation: animation)
    }

    private static func animation(
        _ data: Data, decoder: any ImageDecoder, plan: DecodePlan, context: WorkContext
    ) throws -> AnimatedImage? {
        guard plan.info.isAnimated, plan.frames != .first, let decoder = decoder as? any AnimatedImageDecoder else {
            return nil
        }
        let reader = try decoder.frames(of: data, info: plan.info)
        // A file whose other frames were cut off is a still image.
        guard reader.frames.count > 1 else { return nil }
        let animation = try AnimatedImage(
            source: DecodedFrames(reader, plan: plan, dataCost: data.count), size: plan.finalSize,
            durations: reader.frames.map(\.duration), loopCount: plan.info.loopCount ?? 1)
        return plan.frames == .all ? try animation.preloaded(context: context) : animation
    }

    /// Reduces what the decoder delivered to the final size, then turns it upright. Orientation is applied here and
    /// nowhere else; after the reduction, because there are fewer pixels to move then.
    static func finish(_ native: Bitmap, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        var bitmap = native
        if let residual = plan.residual {
            try context.checkCancellation()
            bitmap = try bitmap.resampled(residual, filter: .lanczos, context: context)
        }
        guard plan.info.orientation != .up else { return bitmap }
        try context.checkCancellation()
        return try bitmap.oriented(plan.info.orientation)
    }
}
