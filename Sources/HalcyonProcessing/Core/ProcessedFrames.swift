import HalcyonImage
import HalcyonSystem

/// The frames of an animation after a processor, each made when it is asked for.
final class ProcessedFrames: AnimationFrameSource {
    private let animation: AnimatedImage
    /// What a frame is an image of.
    private let image: Image
    private let processor: any ImageProcessor
    private let size: PixelSize

    /// - Parameter first: the first frame, processed: the others must be of its size.
    init(_ animation: AnimatedImage, of image: Image, by processor: any ImageProcessor, first: Bitmap) {
        self.animation = animation
        self.image = image
        self.processor = processor
        size = first.size
    }

    var cost: Int { animation.cost }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        let frame = try animation.frame(at: index, context: context)
        let bitmap = try processor.process(image.replacing(frame), context: context).bitmap
        guard bitmap.size == size else { throw AnimationError.differentSizes(size, bitmap.size) }
        return bitmap
    }
}
