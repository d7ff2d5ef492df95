import HalcyonImage
import HalcyonSystem

/// The effect of a processor on the places of pixels.
enum GeometryStep {
    /// Pixels move to other places and keep their values.
    case exact
    case scaling
}

/// A processor that only cuts, turns or scales. Consecutive ones are done in one pass.
protocol GeometricProcessor: ImageProcessor {
    /// The processor's effect, or nil if its parameters need more than a geometry plan can do.
    var geometryStep: GeometryStep? { get }

    /// Adds the processor's effect on an image of `plan.size`.
    func add(to plan: inout GeometryPlan) throws
}

/// Several geometric processors in one pass.
struct GeometryRun: ImageProcessor {
    private let processors: [any ImageProcessor]

    init(_ processors: ArraySlice<any ImageProcessor>) {
        self.processors = Array(processors)
    }

    func encode(into key: inout KeyEncoder) { ChainProcessor(processors).encode(into: &key) }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        var plan = GeometryPlan(image.size)
        for case let processor as any GeometricProcessor in processors { try processor.add(to: &plan) }
        return try plan.applied(to: image, context: context)
    }

    static func == (left: GeometryRun, right: GeometryRun) -> Bool {
        ChainProcessor(left.processors) == ChainProcessor(right.processors)
    }

    func hash(into hasher: inout Hasher) { ChainProcessor(processors).hash(into: &hasher) }
}

extension GeometricProcessor {
    /// Applies the processor by itself.
    func processGeometry(_ image: Image, context: WorkContext) throws -> Image {
        var plan = GeometryPlan(image.size)
        try add(to: &plan)
        return try plan.applied(to: image, context: context)
    }
}
