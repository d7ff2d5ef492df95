import Foundation
import HalcyonImage
import HalcyonSystem

/// The frames of a file, which are composed, reduced and turned upright on request.
final class DecodedFrames: AnimationFrameSource {
    private let reader: any FrameReader
    private let plan: DecodePlan
    private let color: ColorTransform?
    private let dataCost: Int
    /// The budget that each frame reserves from; nil for a reader whose owner has reserved memory for all frames.
    private let budget: DecodeBudget?
    private let compositor: Lock<FrameCompositor>

    /// - Parameter plan: a plan whose `measure` has been called.
    init(_ reader: any FrameReader, plan: DecodePlan, color: ColorTransform?, dataCost: Int, budget: DecodeBudget?) {
        self.reader = reader
        self.plan = plan
        self.color = color
        self.dataCost = dataCost
        self.budget = budget
        compositor = Lock(
            FrameCompositor(reader, size: plan.storedSize, detours: FrameDetours(of: plan.storedSize, within: plan)))
    }

    var cost: Int { dataCost.adding(2, times: plan.storedSize.bitmapBytes) }

    /// The memory for one frame. The plan's `conversionBytes` are left out, because the colour conversion is built
    /// already.
    var workingBytes: Int { plan.workingBytes - plan.conversionBytes }

    func makeReader() -> any AnimationFrameSource {
        DecodedFrames(reader, plan: plan, color: color, dataCost: dataCost, budget: nil)
    }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        guard let budget else { return try made(at: index, context: context) }
        // Reserve before taking the lock: the holder of the lock then never waits for bytes, so it always finishes and
        // releases its own reservation.
        return try budget.withReservation(of: workingBytes, context: context) {
            try made(at: index, context: context)
        }
    }

    private func made(at index: Int, context: WorkContext) throws -> Bitmap {
        let canvas = try compositor.withLock { try $0.canvas(at: index, context: context) }
        return try CoderRegistry.finish(canvas, plan: plan, color: color, context: context)
    }
}

/// The allowance of frames that may be drawn only to reach other frames.
///
/// Frames requested in order need none. Frames requested in reverse may each have to be drawn from the first one on: a
/// thousand such frames would cost half a million drawings. Each request adds to the allowance, so that short
/// animations never exhaust it, in whatever order their frames are requested.
package struct FrameDetours {
    /// The number of detours that each request adds.
    private static let eachFrame = 64

    private let most: Int
    private var left: Int

    /// - Parameter plan: the plan whose limit on the pixels of all frames bounds the detours beyond those that each
    ///   request adds.
    init(of canvas: PixelSize, within plan: DecodePlan) {
        self.init(of: canvas, maximumTotalPixels: plan.maximumTotalPixels)
    }

    /// - Parameter maximumTotalPixels: the limit on the pixels of all frames.
    package init(of canvas: PixelSize, maximumTotalPixels: Int) {
        most = max(Self.eachFrame, maximumTotalPixels / max(1, canvas.area ?? .max))
        left = most
    }

    /// Takes detours from the allowance.
    ///
    /// - Throws: `CodecError.limitExceeded`, before anything is drawn.
    package mutating func take(_ count: Int) throws {
        left += min(Self.eachFrame, most - left)
        guard count <= left else {
            throw CodecError.limitExceeded("frames drawn to reach the requested frame", value: count, limit: left)
        }
        left -= count
    }
}
