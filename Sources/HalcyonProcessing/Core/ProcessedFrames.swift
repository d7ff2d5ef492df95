import HalcyonImage
import HalcyonSystem

/// The processed frames of an animation, each made on demand.
final class ProcessedFrames: AnimationFrameSource {
    private let animation: AnimatedImage
    /// The image that the animation belongs to; each frame replaces its bitmap.
    private let image: Image
    private let processor: any ImageProcessor
    private let size: PixelSize

    /// - Parameter first: The first frame, processed; the others must have its size.
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

    /// The decoder's working memory plus the result and one intermediate bitmap.
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
