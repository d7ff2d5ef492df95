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
    convenience init(_ animation: AnimatedImage, of image: Image, by processor: any ImageProcessor, first: Bitmap) {
        self.init(animation, of: image, by: processor, size: first.size)
    }

    private init(_ animation: AnimatedImage, of image: Image, by processor: any ImageProcessor, size: PixelSize) {
        self.animation = animation
        self.image = image
        self.processor = processor
        self.size = size
    }

    var cost: Int { animation.cost }

    /// Beside the frame that is processed the result, and another bitmap on the way to it.
    var workingBytes: Int { animation.workingBytes.adding(2, times: size.bitmapBytes) }

    func makeReader() -> any AnimationFrameSource {
        ProcessedFrames(animation.makeReader(), of: image, by: processor, size: size)
    }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        let frame = try animation.frame(at: index, context: context)
        let bitmap = try processor.process(image.replacing(frame), context: context).bitmap
        guard bitmap.size == size else { throw AnimationError.differentSizes(size, bitmap.size) }
        return bitmap
    }
}
