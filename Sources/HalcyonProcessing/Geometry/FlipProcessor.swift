import HalcyonImage
import HalcyonSystem

/// Mirrors an image.
public struct FlipProcessor: GeometricProcessor {
    /// The direction in which an image is mirrored.
    public enum Axis: String, Sendable, Hashable, CaseIterable {
        /// Swaps left and right.
        case horizontal
        /// Swaps top and bottom.
        case vertical
    }

    /// The direction in which the image is mirrored.
    package var axis: Axis

    /// Creates a processor that mirrors in one direction.
    package init(_ axis: Axis) {
        self.axis = axis
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.flip", version: 1)
        key.encode(axis.rawValue)
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try processGeometry(image, context: context)
    }

    var geometryStep: GeometryStep? { .exact }

    func add(to plan: inout GeometryPlan) throws {
        plan.turn(axis == .horizontal ? .upMirrored : .downMirrored)
    }
}

extension ImageProcessor where Self == FlipProcessor {
    /// Mirrors left to right or top to bottom.
    public static func flip(_ axis: FlipProcessor.Axis) -> Self {
        FlipProcessor(axis)
    }
}
