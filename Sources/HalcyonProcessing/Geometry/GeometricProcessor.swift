import HalcyonImage
import HalcyonSystem

/// What a processor does to the places of pixels.
enum GeometryStep {
    /// Pixels go to other places and stay what they are.
    case exact
    case scaling
}

/// A processor that only cuts, turns or scales: neighbours of this kind are done in one go.
protocol GeometricProcessor: ImageProcessor {
    /// Nil where its parameters make more of it.
    var geometryStep: GeometryStep? { get }

    /// Adds what it does to an image of `plan.size`.
    func add(to plan: inout GeometryPlan) throws
}

/// Several geometric processors in one go.
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
    /// By itself.
    func processGeometry(_ image: Image, context: WorkContext) throws -> Image {
        var plan = GeometryPlan(image.size)
        try add(to: &plan)
        return try plan.applied(to: image, context: context)
    }
}
