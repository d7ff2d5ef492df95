import Foundation
import HalcyonImage
import HalcyonSystem

/// An image that a program made itself, in the place of a file's data: the options of a decode apply to its pixels.
///
/// Its pixels are upright, in sRGB, and all that there is: `image.info.size` is their size.
package struct MadeImage: Sendable {
    /// The reason why an image cannot be used.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let image: Image

    /// Cost: about ten nanoseconds a pixel for an image with a colour profile, otherwise nothing.
    ///
    /// - Throws: `Failure` for a preview, and for frames of another size; `BitmapError.outOfMemory`.
    package init(_ made: Image) throws {
        guard !made.info.isPreview else { throw Failure(description: "the image is a preview") }
        if let frames = made.animation, frames.size != made.size {
            throw Failure(description: "the image has \(made.size) pixels and its frames \(frames.size)")
        }
        var (info, pixels) = (made.info, made)
        if let profile = made.colorProfile {
            pixels = try made.converted(by: try ColorTransforms.shared.transform(for: ColorProfile(embedded: profile)))
        }
        (info.size, info.isVector, info.hasGainMap) = (made.size, false, false)
        info.hasAlpha = !made.bitmap.isOpaque
        info.frameCount = max(made.animation?.frameCount ?? 1, 1)
        info.loopCount = made.animation?.loopCount
        // The pixels may have more colours than the GIF that they were made of.
        if info.format == .gif { info.format = .bitmap }
        var image = Image(bitmap: pixels.bitmap, info: info, animation: pixels.animation)
        image.deepBitmap = made.deepBitmap
        self.image = image
    }

    /// Returns the plan of the image that a decode with these options would have made.
    ///
    /// - Throws: `CodecError.limitExceeded`, `BitmapError.invalidSize`.
    package func plan(_ options: DecodeOptions) throws -> DecodePlan {
        // Pixels are upright already.
        var info = image.info
        info.orientation = .up
        try options.limits.check(info)
        var options = options
        if options.keepsDynamicRange, let space = image.deepBitmap?.format.colorSpace, space.isBright {
            options.depth?.colorSpace = space
        }
        let plan = try DecodePlan(info, options, nil)
        try plan.check(options.limits)
        return plan
    }

    /// The bytes that `image(by:)` takes in addition to this image.
    package func workingBytes(by plan: DecodePlan) -> Int {
        let deep = plan.depth == nil ? 0 : 0.adding(4, times: max(plan.finalSize.bitmapBytes, image.size.bitmapBytes))
        let frame = (plan.residual == nil ? 0 : plan.finalSize.bitmapBytes).adding(1, times: deep)
        guard let animation = image.animation, plan.frames == .all else { return frame }
        if animation.isPreloaded, plan.residual == nil { return 0 }
        // The frames, and the last one before it is scaled.
        return frame.adding(animation.frameCount, times: plan.finalSize.bitmapBytes)
            .adding(1, times: animation.workingBytes)
    }

    /// Returns the image of a plan. The caller reserves `workingBytes(by:)`.
    ///
    /// - Throws: `BitmapError`, `CancellationError`, and the errors of the frames if all are wanted at once.
    package func image(by plan: DecodePlan, context: WorkContext) throws -> Image {
        var made = plan.frames == .first ? image.replacing(image.bitmap) : image
        made.deepBitmap = try plan.depth.map { try image.deepPixels($0, context: context) }
        if let geometry = plan.residual { made = try made.reduced(geometry, light: plan.light, context: context) }
        guard plan.frames == .all, let animation = made.animation, !animation.isPreloaded else { return made }
        return made.replacing(animation: try animation.makeReader().preloaded(maximumBytes: .max, context: context))
    }
}

extension Image {
    /// Returns deep pixels of a format, made of those that the image has.
    fileprivate func deepPixels(_ format: DeepBitmap.Format, context: WorkContext) throws -> DeepBitmap {
        try deepBitmap?.converted(to: format, context: context)
            ?? DeepBitmap(widening: bitmap, profile: nil, format: format, context: context)
    }
}
