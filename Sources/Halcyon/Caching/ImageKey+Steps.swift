import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing

extension ImageKey {
    /// The steps from the source's bytes to the image: the decode, and the processors after it. A leading resize becomes part
    /// of the decode, which then reads no more of the image than it needs.
    var steps: (decode: DecodeOptions, processors: [any ImageProcessor]) {
        guard decode.target == nil, let resize = processors.first as? ResizeProcessor, resize.filter == .lanczos
        else { return (decode, processors) }
        var options = decode
        options.target = TargetSize(resize.size, mode: resize.mode, upscale: resize.upscale)
        return (options, Array(processors.dropFirst()))
    }

    /// The decode options for the finished image on disk, which already has its size and region.
    var finishedOptions: DecodeOptions {
        DecodeOptions(color: decode.color, preloadAllFrames: decode.preloadAllFrames, limits: decode.limits)
    }

    /// Whether the image shows everything that its source has, so that bytes encoded from it may replace the source's.
    var showsAllOfItsSource: Bool {
        !isProcessed && !decode.firstFrameOnly && decode.color == .sRGB && isStorable
    }

    /// Whether the image is whole, at its own size or fitted into a box, so that a larger one can replace it.
    private var isWhole: Bool {
        processors.isEmpty && decode.region == nil && (decode.target.map { $0.mode == .fit } ?? true)
    }

    /// Whether a larger image of the same source may be used instead of this one.
    var admitsLarger: Bool { isWhole && decode.maximumBytes == nil }

    /// Whether the image of another key shows the same picture, provided that it is large enough.
    func isSamePicture(as other: ImageKey) -> Bool {
        ExactText(source) == ExactText(other.source) && (user == other.user || user == nil) && coders === other.coders
            && isWhole && other.isWhole
            && decode.color == other.decode.color && decode.firstFrameOnly == other.decode.firstFrameOnly
    }

    /// Returns the size in pixels that the image gets from a source of this size, for a key that admits larger images.
    func wantedSize(of source: PixelSize) -> PixelSize {
        guard let target = decode.target else { return source }
        return ResizeGeometry(source: source, box: target.size, mode: target.mode, upscale: target.upscale).size
    }
}
