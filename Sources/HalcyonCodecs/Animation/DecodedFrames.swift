import Foundation
import HalcyonImage
import HalcyonSystem

/// The frames of a file, composed, reduced and turned upright as they are asked for.
final class DecodedFrames: AnimationFrameSource {
    private let reader: any FrameReader
    private let plan: DecodePlan
    private let color: ColorTransform?
    private let dataCost: Int
    /// The budget that each frame reserves from; nil for a reader that has reserved for all of them.
    private let budget: DecodeBudget?
    private let compositor: Lock<FrameCompositor>

    /// - Parameter plan: measured.
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

    /// The conversion of the colours is made already.
    var workingBytes: Int { plan.workingBytes - plan.conversionBytes }

    func makeReader() -> any AnimationFrameSource {
        DecodedFrames(reader, plan: plan, color: color, dataCost: dataCost, budget: nil)
    }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        guard let budget else { return try made(at: index, context: context) }
        // Before the lock: who has it does not wait for bytes, and so gives his own back.
        return try budget.withReservation(of: workingBytes, context: context) {
            try made(at: index, context: context)
        }
    }

    private func made(at index: Int, context: WorkContext) throws -> Bitmap {
        let canvas = try compositor.withLock { try $0.canvas(at: index, context: context) }
        return try CoderRegistry.finish(canvas, plan: plan, color: color, context: context)
    }
}

/// How many frames may be drawn on the way to others.
///
/// Frames in turn need none. Those that are asked for backwards may each have to be drawn from the first one: a thousand
/// such frames would cost half a million. Each frame that is asked for brings so many detours that what short animations
/// cost in any order never runs out.
struct FrameDetours {
    private static let eachFrame = 64

    private let most: Int
    private var left: Int

    /// - Parameter plan: its limit on all frames is what detours may cost beyond those that each frame brings.
    init(of canvas: PixelSize, within plan: DecodePlan) {
        most = max(Self.eachFrame, plan.maximumTotalPixels / max(1, canvas.area ?? .max))
        left = most
    }

    /// - Throws: `CodecError.limitExceeded`, before anything is drawn.
    mutating func take(_ count: Int) throws {
        left += min(Self.eachFrame, most - left)
        guard count <= left else {
            throw CodecError.limitExceeded("frames drawn on the way to another", value: count, limit: left)
        }
        left -= count
    }
}
