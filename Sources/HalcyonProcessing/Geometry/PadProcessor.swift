import HalcyonImage
import HalcyonSystem

/// Puts an image on a larger background.
public struct PadProcessor: ImageProcessor {
    /// The amount of padding.
    package enum Amount: Hashable, Sendable {
        /// Pixels on each side.
        case insets(top: Int, left: Int, bottom: Int, right: Int)
        /// A minimum size in pixels, and the image's position in it: 0 is left or top, 0.5 the middle, 1 right or
        /// bottom. Anchors are clamped to 0...1. A longer side of the image is kept.
        case size(PixelSize, x: Double, y: Double)
    }

    /// The padding, in pixels on each side or as a minimum size.
    package var amount: Amount
    /// The background colour, also behind transparent parts of the image. Clear by default.
    package var background: Color

    /// Creates a processor that adds padding of a colour, clear by default.
    package init(_ amount: Amount, background: Color = .clear) {
        self.amount = amount
        self.background = background
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.pad", version: 1)
        switch amount {
        case .insets(let top, let left, let bottom, let right):
            key.encode(0)
            for side in [top, left, bottom, right] { key.encode(side) }
        case .size(let size, let x, let y):
            key.encode(1)
            key.encode(size)
            key.encode(x)
            key.encode(y)
        }
        key.encode(background)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` for negative insets, insets or sides above `Bitmap.maximumSide`,
    ///   an empty size, an anchor that is NaN or a colour that is not finite.
    public func validate() throws(ProcessingError) {
        try background.validate(processor: "pad")
        switch amount {
        case .insets(let top, let left, let bottom, let right):
            let sides = [top, left, bottom, right]
            guard sides.allSatisfy({ (0...Bitmap.maximumSide).contains($0) }) else {
                throw ProcessingError.invalidArgument(processor: "pad", reason: "insets of \(sides) pixels")
            }
        case .size(let size, let x, let y):
            guard !size.isEmpty, size.width <= Bitmap.maximumSide, size.height <= Bitmap.maximumSide else {
                throw ProcessingError.invalidArgument(processor: "pad", reason: "a size of \(size) pixels")
            }
            guard !x.isNaN, !y.isNaN else {
                throw ProcessingError.invalidArgument(processor: "pad", reason: "the anchor is not a number")
            }
        }
    }

    /// Returns the processed image.
    ///
    /// - Throws: The errors of `validate()`; `ProcessingError.notApplicable` if the result is larger than a bitmap
    ///   can be.
    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        let (size, x, y) = placed(image.size)
        try ResultLimit.check(size, processor: "pad")
        let ground = background.packed
        if size == image.size, ground == 0 || image.bitmap.isOpaque { return image }
        let bitmap = try Bitmap(size: size, isOpaque: ground >> 24 == 255) { output in
            var canvas = Canvas(output, size: size)
            try canvas.fill(ground, context: context)
            try canvas.draw(image.bitmap, x: x, y: y, over: ground != 0, context: context)
        }
        return image.replacing(bitmap)
    }

    private func placed(_ image: PixelSize) -> (size: PixelSize, x: Int, y: Int) {
        switch amount {
        case .insets(let top, let left, let bottom, let right):
            return (PixelSize(image.width + left + right, image.height + top + bottom), left, top)
        case .size(let size, let x, let y):
            let grown = PixelSize(max(size.width, image.width), max(size.height, image.height))
            return (
                grown, Anchor.offset(x, room: grown.width - image.width),
                Anchor.offset(y, room: grown.height - image.height)
            )
        }
    }
}

extension ImageProcessor where Self == PadProcessor {
    /// Adds pixels on all sides.
    public static func pad(_ pixels: Int, background: Color = .clear) -> Self {
        .pad(top: pixels, left: pixels, bottom: pixels, right: pixels, background: background)
    }

    /// Adds pixels on each side.
    public static func pad(
        top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0, background: Color = .clear
    ) -> Self {
        PadProcessor(.insets(top: top, left: left, bottom: bottom, right: right), background: background)
    }

    /// Puts the image on a background of at least `size` pixels, in the middle by default.
    public static func pad(
        to size: PixelSize, anchorX: Double = 0.5, anchorY: Double = 0.5, background: Color = .clear
    ) -> Self {
        PadProcessor(.size(size, x: anchorX, y: anchorY), background: background)
    }
}
