import HalcyonImage
import HalcyonSystem

/// The sharpening of a resize that the decode has done.
package struct ReductionSharpening: ImageProcessor {
    private let resize: ResizeProcessor
    /// The part of the source that was decoded; nil is all of it.
    private let region: PixelRect?

    /// Returns nil for a resize that does not sharpen.
    package init?(of resize: ResizeProcessor, in region: PixelRect?) {
        guard resize.sharpening > 0 else { return nil }
        (self.resize, self.region) = (resize, region)
    }

    package func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.reduction-sharpening", version: 1)
        key.encode(nested: { resize.encode(into: &$0) })
        key.encode(region != nil)
        guard let region else { return }
        for value in [region.x, region.y, region.size.width, region.size.height] { key.encode(value) }
    }

    package func validate() throws { try resize.validate() }

    package func process(_ image: Image, context: WorkContext) throws -> Image {
        // A drawing is made at the size that is asked for: nothing of it was averaged.
        guard !image.info.isVector else { return image }
        let source = region?.clamped(to: image.info.size)?.size ?? image.info.size
        return try resize.sharpened(image, from: source, context: context)
    }
}
