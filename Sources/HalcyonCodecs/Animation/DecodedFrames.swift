import Foundation
import HalcyonImage
import HalcyonSystem

/// The frames of a file, composed, reduced and turned upright as they are asked for.
final class DecodedFrames: AnimationFrameSource {
    private let plan: DecodePlan
    private let color: ColorTransform?
    private let dataCost: Int
    private let compositor: Lock<FrameCompositor>

    init(_ reader: any FrameReader, plan: DecodePlan, color: ColorTransform?, dataCost: Int) {
        self.plan = plan
        self.color = color
        self.dataCost = dataCost
        compositor = Lock(FrameCompositor(reader, size: plan.storedSize))
    }

    var cost: Int { dataCost + plan.storedSize.width * plan.storedSize.height * 8 }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        let canvas = try compositor.withLock { try $0.canvas(at: index, context: context) }
        return try CoderRegistry.finish(canvas, plan: plan, color: color, context: context)
    }
}
