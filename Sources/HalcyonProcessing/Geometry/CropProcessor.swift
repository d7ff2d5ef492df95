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
        }
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` for an empty rectangle or an anchor that is NaN.
    public func validate() throws(ProcessingError) {
        switch region {
        case .rect(let rect):
            guard !rect.size.isEmpty else { throw empty(rect.size) }
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
        try processGeometry(image, context: context)
    }

    var geometryStep: GeometryStep? { .exact }

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
        case .anchored(let size, let x, let y):
            let kept = PixelSize(min(size.width, bounds.width), min(size.height, bounds.height))
            return PixelRect(
                x: Anchor.offset(x, room: bounds.width - kept.width),
                y: Anchor.offset(y, room: bounds.height - kept.height),
                width: kept.width, height: kept.height)
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
}

/// The position of a smaller rectangle in a larger one: 0 is left or top, 0.5 the middle, 1 right or bottom.
enum Anchor {
    /// Returns the offset in whole pixels, for `room` spare pixels. The anchor is clamped to 0...1.
    static func offset(_ anchor: Double, room: Int) -> Int {
        Int((min(max(anchor, 0), 1) * Double(room)).rounded())
    }
}
