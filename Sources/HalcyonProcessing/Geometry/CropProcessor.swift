import HalcyonImage
import HalcyonSystem

/// Keeps a rectangle of an image.
public struct CropProcessor: GeometricProcessor {
    /// The rectangle to keep.
    package enum Region: Hashable, Sendable {
        /// A rectangle in pixels from the top left; the part of it that lies outside the image is ignored.
        case rect(PixelRect)
        /// A size in pixels and its position: 0 is left or top, 0.5 the middle, 1 right or bottom. Anchors are
        /// clamped to 0...1, the size to the image.
        case anchored(PixelSize, x: Double, y: Double)
        /// A size in pixels, clamped to the image, where most of it is salient.
        case salient(PixelSize)
        /// The largest part with the ratio of these sides where most of it is salient.
        case salientRatio(PixelSize)
    }

    /// The rectangle to keep, by its edges or by its size and position.
    package var region: Region

    /// Creates a processor that keeps a rectangle.
    package init(_ region: Region) {
        self.region = region
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.crop", version: 1)
        switch region {
        case .rect(let rect):
            key.encode(0)
            key.encode(rect.x)
            key.encode(rect.y)
            key.encode(rect.size)
        case .anchored(let size, let x, let y):
            key.encode(1)
            key.encode(size)
            key.encode(x)
            key.encode(y)
        case .salient(let size):
            key.encode(2)
            key.encode(size)
        case .salientRatio(let ratio):
            key.encode(3)
            key.encode(ratio)
        }
    }

    /// False where the image decides on the rectangle, which is the same for all frames.
    public var appliesPerFrame: Bool { geometryStep != nil }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` for an empty rectangle or an anchor that is NaN.
    public func validate() throws(ProcessingError) {
        switch region {
        case .rect(let rect):
            guard !rect.size.isEmpty else { throw empty(rect.size) }
        case .salient(let size), .salientRatio(let size):
            guard !size.isEmpty else { throw empty(size) }
        case .anchored(let size, let x, let y):
            guard !size.isEmpty else { throw empty(size) }
            guard !x.isNaN, !y.isNaN else {
                throw ProcessingError.invalidArgument(processor: "crop", reason: "the anchor is not a number")
            }
        }
    }

    /// Returns the processed image.
    ///
    /// - Throws: The errors of `validate()`; `ProcessingError.notApplicable` for a rectangle outside the image.
    public func process(_ image: Image, context: WorkContext) throws -> Image {
        guard geometryStep == nil else { return try processGeometry(image, context: context) }
        try validate()
        let size = size(in: image.size)
        guard size != image.size else { return image }
        let rect = try SaliencyMap(image.bitmap, context: context).window(size)
        return try CropProcessor(.rect(rect)).applied(to: image, context: context)
    }

    var geometryStep: GeometryStep? {
        switch region {
        case .rect, .anchored: .exact
        case .salient, .salientRatio: nil
        }
    }

    func add(to plan: inout GeometryPlan) throws {
        try validate()
        let rect = rectangle(in: plan.size)
        guard let inside = rect.clamped(to: plan.size) else {
            throw ProcessingError.notApplicable(
                processor: "crop", reason: "\(rect) lies outside the image of \(plan.size) pixels")
        }
        plan.crop(inside)
    }

    private func rectangle(in bounds: PixelSize) -> PixelRect {
        switch region {
        case .rect(let rect):
            return rect
        case .anchored(_, let x, let y):
            return placed(size(in: bounds), x, y, in: bounds)
        case .salient, .salientRatio:
            // Without pixels, all places are equal.
            return placed(size(in: bounds), 0.5, 0.5, in: bounds)
        }
    }

    private func placed(_ size: PixelSize, _ x: Double, _ y: Double, in bounds: PixelSize) -> PixelRect {
        PixelRect(
            x: Anchor.offset(x, room: bounds.width - size.width),
            y: Anchor.offset(y, room: bounds.height - size.height), width: size.width, height: size.height)
    }

    /// Returns the size of the part of an image that is kept.
    private func size(in bounds: PixelSize) -> PixelSize {
        switch region {
        case .rect(let rect): return rect.size
        case .anchored(let size, _, _), .salient(let size):
            return PixelSize(min(size.width, bounds.width), min(size.height, bounds.height))
        case .salientRatio(let ratio):
            let (width, height) = (Double(bounds.width), Double(bounds.height))
            let scale = min(width / Double(ratio.width), height / Double(ratio.height))
            func side(_ length: Int, _ most: Int) -> Int {
                min(most, max(1, Int((Double(length) * scale).rounded())))
            }
            return PixelSize(side(ratio.width, bounds.width), side(ratio.height, bounds.height))
        }
    }

    private func empty(_ size: PixelSize) -> ProcessingError {
        .invalidArgument(processor: "crop", reason: "a rectangle of \(size) pixels")
    }
}

extension ImageProcessor where Self == CropProcessor {
    /// Keeps a rectangle, in pixels from the top left.
    public static func crop(_ rect: PixelRect) -> Self {
        CropProcessor(.rect(rect))
    }

    /// Keeps `size` pixels at an anchor, the middle by default.
    public static func crop(to size: PixelSize, anchorX: Double = 0.5, anchorY: Double = 0.5) -> Self {
        CropProcessor(.anchored(size, x: anchorX, y: anchorY))
    }

    /// Keeps `size` pixels, at most those of the image, where most is salient: what differs in colour from the rest, has details, or
    /// has the colours of skin. Where nothing is, or the image is transparent, it is the middle.
    ///
    /// An animation is cut in all frames to the window that its first frame has. Equal images have equal windows on all machines.
    /// Cost: at most 16 pixels of each of 128x128 cells are read, whatever the image's size.
    public static func smartCrop(to size: PixelSize) -> Self {
        CropProcessor(.salient(size))
    }

    /// Keeps the largest part with the ratio of two sides, such as 16 to 9, where most is salient, as `smartCrop(to:)` finds it.
    ///
    /// Before `.resize(to: box)` with the same sides, the box is filled by the part that matters.
    public static func smartCrop(ratio: PixelSize) -> Self {
        CropProcessor(.salientRatio(ratio))
    }
}

/// The position of a smaller rectangle in a larger one: 0 is left or top, 0.5 the middle, 1 right or bottom.
enum Anchor {
    /// Returns the offset in whole pixels, for `room` spare pixels. The anchor is clamped to 0...1.
    static func offset(_ anchor: Double, room: Int) -> Int {
        Int((min(max(anchor, 0), 1) * Double(room)).rounded())
    }
}
