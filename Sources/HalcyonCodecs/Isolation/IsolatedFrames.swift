import Foundation
import HalcyonImage
import HalcyonSystem

/// The frames of an animation, which a worker draws. It keeps what it needs for the next one; another worker draws it again.
///
/// Small frames that are asked for in order come several at a time: a question costs as much as a few thousand pixels.
final class IsolatedFrames: AnimationFrameSource {
    /// The frames that came ahead of the one that was asked for, and the number of those to ask for.
    private struct Ahead {
        var frames: [Int: Bitmap] = [:]
        /// The frame that is asked for next, if the frames are asked for in order.
        var next = 0
        var count = 1

        /// Returns the frame if it is there.
        mutating func take(_ index: Int) -> Bitmap? {
            let frame = frames.removeValue(forKey: index)
            if frame != nil { next = index + 1 }
            return frame
        }

        /// Returns the frames to ask for: twice as many as the last time, unless this is a jump.
        mutating func range(from index: Int, most: Int, frameCount: Int) -> Range<Int> {
            count = index == next && index > 0 ? min(count * 2, most) : 1
            frames = [:]
            next = index + 1
            return index..<min(index + count, max(frameCount, index + 1))
        }
    }

    private let decode: IsolatedDecode
    private let plan: DecodePlan
    private let frameCount: Int
    private let session: WorkerSession
    /// Whether the owner of this reader has reserved the memory for all frames.
    private let isReserved: Bool
    /// The most frames that are asked for at once.
    private let mostFrames: Int
    private let ahead = Lock(Ahead())

    init(_ decode: IsolatedDecode, plan: DecodePlan, frameCount: Int, isReserved: Bool) {
        (self.decode, self.plan, self.frameCount, self.isReserved) = (decode, plan, frameCount, isReserved)
        // The file, the last canvas, and the one under it.
        let cost = decode.file.data.count.adding(2, times: plan.storedSize.bitmapBytes)
        session = WorkerSession(number: decode.file.workers.nextNumber(), cost: cost)
        let fitting = 2 * WorkerArena.windowBytes / max(1, plan.finalSize.bitmapBytes)
        mostFrames = min(max(1, fitting), WorkerRequest.mostFrames)
    }

    deinit {
        decode.file.workers.end(session.number)
    }

    /// The bytes that the worker keeps, and the frames ahead.
    var cost: Int { session.cost.adding(mostFrames - 1, times: plan.finalSize.bitmapBytes) }

    /// The memory for one frame and those ahead of it. The plan's is also for all frames, if all of them are kept.
    var workingBytes: Int {
        let kept = plan.frames == .all ? 0.adding(plan.info.frameCount, times: plan.finalSize.bitmapBytes) : 0
        return (plan.workingBytes - kept).adding(mostFrames - 1, times: plan.finalSize.bitmapBytes)
    }

    func makeReader() -> any AnimationFrameSource {
        IsolatedFrames(decode, plan: plan, frameCount: frameCount, isReserved: true)
    }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        try context.checkCancellation()
        if let frame = ahead.withLock({ $0.take(index) }) { return frame }
        guard !isReserved else { return try made(at: index, context: context) }
        return try decode.budget.withReservation(of: workingBytes, context: context) {
            try made(at: index, context: context)
        }
    }

    private func made(at index: Int, context: WorkContext) throws -> Bitmap {
        let range = ahead.withLock { $0.range(from: index, most: mostFrames, frameCount: frameCount) }
        var question = WorkerQuestion(.frames, decode.file, decode.options)
        (question.bytes, question.session, question.frames) = (workingBytes, session, range)
        question.isArriving = decode.isArriving
        if range.count == 1 {
            return try Bitmap(size: plan.finalSize) { pixels in
                try ask(question, pixels, context) { areOpaque, result in
                    _ = try result.finish(pixels, extraBytes: 0)
                    return areOpaque[0]
                }
            }
        }
        let bitmaps = try ask(question, nil, context) { areOpaque, result in
            try areOpaque.enumerated().map { number, isOpaque in
                try Bitmap(size: plan.finalSize, isOpaque: isOpaque) { pixels in
                    try result.copy(number * pixels.count..<(number + 1) * pixels.count, to: pixels)
                }
            }
        }
        ahead.withLock { ahead in
            // Another thread has jumped meanwhile, unless this is the last question.
            guard ahead.next == index + 1 else { return }
            ahead.frames = Dictionary(zip(range, bitmaps).dropFirst(), uniquingKeysWith: { first, _ in first })
        }
        return bitmaps[0]
    }

    private func ask<Result>(
        _ question: WorkerQuestion, _ pixels: UnsafeMutableRawBufferPointer?, _ context: WorkContext,
        _ finish: ([Bool], inout WorkerResult) throws -> Result
    ) throws -> Result {
        try decode.file.workers.ask(question, context: context, pixels: pixels) { answer, result in
            guard case .frames(let areOpaque) = answer, (1...question.frames.count).contains(areOpaque.count) else {
                throw WireError.invalid("no frame")
            }
            return try finish(areOpaque, &result)
        }
    }
}
