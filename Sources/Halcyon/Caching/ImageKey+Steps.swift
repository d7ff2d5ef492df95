import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing

extension ImageKey {
    /// How the source's bytes become the image: the decode, and the processors behind it. A resize that comes first
    /// becomes part of the decode, which then reads no more of the image than it needs.
    var steps: (decode: DecodeOptions, processors: [any ImageProcessor]) {
        guard decode.target == nil, let resize = processors.first as? ResizeProcessor, resize.filter == .lanczos
        else { return (decode, processors) }
        var options = decode
        options.target = TargetSize(resize.size, mode: resize.mode, upscale: resize.upscale)
        return (options, Array(processors.dropFirst()))
    }

    /// How the finished image on disk is decoded: its size and its part are made already.
    var finishedOptions: DecodeOptions {
        DecodeOptions(color: decode.color, preloadAllFrames: decode.preloadAllFrames, limits: decode.limits)
    }

    /// Whether the image shows all that its source has: bytes that are made of it may stand for the source.
    var showsAllOfItsSource: Bool {
        !isProcessed && !decode.firstFrameOnly && decode.color == .sRGB && isStorable
    }

    /// Whether it is a whole image, at its own size or fitted into a box: one that a larger one can stand for.
    private var isWhole: Bool {
        processors.isEmpty && decode.region == nil && (decode.target.map { $0.mode == .fit } ?? true)
    }

    /// Whether a larger image of the same source may stand for this one.
    var admitsLarger: Bool { isWhole && decode.maximumBytes == nil }

    /// Whether the image of another key, if it is large enough, shows the same picture.
    func isSamePicture(as other: ImageKey) -> Bool {
        ExactText(source) == ExactText(other.source) && (user == other.user || user == nil) && coders === other.coders
            && isWhole && other.isWhole
            && decode.color == other.decode.color && decode.firstFrameOnly == other.decode.firstFrameOnly
    }

    /// The pixels that the image of a source of this size gets, for a key that admits larger ones.
    func wantedSize(of source: PixelSize) -> PixelSize {
        guard let target = decode.target else { return source }
        return ResizeGeometry(source: source, box: target.size, mode: target.mode, upscale: target.upscale).size
    }
}
