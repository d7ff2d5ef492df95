import Foundation
import HalcyonImage
import HalcyonSystem

/// A file for the workers, in memory that nobody can change: from its plan on until its last frame it is copied once.
final class IsolatedFile: Sendable {
    let format: ImageFormat
    let memory: SharedMemory
    let workers: DecodeWorkers

    /// - Throws: `CodecError.isolationUnavailable` if the system grants no memory.
    init(_ data: Data, _ format: ImageFormat, for workers: DecodeWorkers) throws {
        (self.format, self.workers) = (format, workers)
        memory = try SharedMemory(copying: data)
    }

    /// Returns the facts in the header, which a worker reads.
    ///
    /// - Throws: `CodecError`, `CancellationError`.
    func info() throws -> ImageInfo {
        try workers.ask(.probe, self, DecodeOptions(), context: .uncancellable) { answer, _ in
            guard case .info(let info) = answer, info.format == format else { throw WireError.invalid("no header") }
            return info
        }
    }

    /// Returns the plan that a worker makes. All that a plan computes from the header, this process computes itself.
    ///
    /// - Parameter budget: the budget from which the frames of an animation reserve their memory.
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func plan(_ options: DecodeOptions, budget: DecodeBudget) throws -> DecodePlan {
        try workers.ask(.plan, self, options, context: .uncancellable) { answer, _ in
            guard case .plan(let facts) = answer else { throw WireError.invalid("no plan") }
            guard facts.info.format == format else { throw WireError.invalid("a plan for \(facts.info.format)") }
            return try DecodePlan(facts, options, by: IsolatedDecode(file: self, options: options, budget: budget))
        }
    }
}

/// The decode of a plan by a worker.
struct IsolatedDecode: Sendable {
    let file: IsolatedFile
    let options: DecodeOptions
    let budget: DecodeBudget

    /// Returns the image.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func image(by plan: DecodePlan, context: WorkContext) throws -> Image {
        let isAnimated = plan.info.isAnimated && plan.frames != .first
        // Mapped without being filled; a profile beyond it is an error of the worker.
        let profileRoom = plan.convertsColor ? 0 : min(options.limits.maximumMetadataBytes, 256 << 20)
        let extras = 0.adding(isAnimated ? 8 : 0, times: plan.info.frameCount).adding(1, times: max(0, profileRoom))
        var image = try file.workers.ask(
            .decode, file, options, reserving: plan.workingBytes, context: context,
            memory: {
                [try SharedMemory(byteCount: plan.finalSize.bitmapBytes)]
                    + (extras > 0 ? [try SharedMemory(byteCount: extras)] : [])
            },
            { answer, memory in
                guard case .image(let facts) = answer else { throw WireError.invalid("no image") }
                return try self.image(facts, plan, memory, isAnimated: isAnimated)
            })
        // The plan has reserved the memory for all frames.
        if plan.frames == .all, let animation = image.animation {
            image = image.replacing(
                animation: try animation.makeReader().preloaded(maximumBytes: .max, context: context))
        }
        return image
    }

    private func image(
        _ facts: ImageFacts, _ plan: DecodePlan, _ memory: [SharedMemory], isAnimated: Bool
    ) throws -> Image {
        var info = facts.info
        info.isPreview = false
        guard info == plan.info, facts.size == plan.finalSize, plan.allowsIncomplete || !facts.info.isPreview else {
            throw WireError.invalid("another image than the one that was planned")
        }
        var animation: AnimatedImage?
        if facts.frameCount > 0 {
            guard isAnimated, (2...plan.info.frameCount).contains(facts.frameCount) else {
                throw WireError.invalid("\(facts.frameCount) frames")
            }
            animation = try self.animation(facts, plan, memory)
        }
        var image = Image(
            bitmap: try memory[0].bitmap(size: facts.size, isOpaque: facts.isOpaque), info: facts.info,
            animation: animation)
        if let length = facts.profileBytes {
            let offset = facts.frameCount * 8
            guard !plan.convertsColor, memory.count == 2, length <= memory[1].byteCount - offset else {
                throw WireError.invalid("a profile of \(length) bytes")
            }
            image.colorProfile = try memory[1].bytes(at: offset, length)
        }
        return image
    }

    private func animation(_ facts: ImageFacts, _ plan: DecodePlan, _ memory: [SharedMemory]) throws -> AnimatedImage {
        let bytes = try memory[1].bytes(at: 0, facts.frameCount * 8)
        let durations = try bytes.withUnsafeBytes { bytes in
            try (0..<facts.frameCount).map { index in
                let duration = bytes.loadUnaligned(fromByteOffset: index * 8, as: Int64.self)
                guard duration >= 0 else { throw WireError.invalid("a negative duration") }
                return Duration.nanoseconds(duration)
            }
        }
        return try AnimatedImage(
            source: IsolatedFrames(self, plan: plan, isReserved: false), size: plan.finalSize, durations: durations,
            loopCount: facts.loopCount)
    }
}

extension SharedMemory {
    /// Forbids changes for good and returns a copy of a part, which lies within the memory.
    func bytes(at offset: Int, _ length: Int) throws -> Data {
        let bytes = try sealed()
        defer { munmap(bytes.baseAddress, max(1, byteCount)) }
        return Data(bytes[offset..<offset + length])
    }
}

/// The frames of an animation, each of which a worker draws. It keeps what it needs for the next one; another worker draws it again.
final class IsolatedFrames: AnimationFrameSource {
    private let decode: IsolatedDecode
    private let plan: DecodePlan
    private let session: WorkerSession
    /// Whether the owner of this reader has reserved the memory for all frames.
    private let isReserved: Bool

    init(_ decode: IsolatedDecode, plan: DecodePlan, isReserved: Bool) {
        (self.decode, self.plan, self.isReserved) = (decode, plan, isReserved)
        // The file, the last canvas, and the one under it.
        let cost = decode.file.memory.byteCount.adding(2, times: plan.storedSize.bitmapBytes)
        session = WorkerSession(number: decode.file.workers.nextNumber(), cost: cost)
    }

    deinit {
        decode.file.workers.end(session.number)
    }

    var cost: Int { session.cost }

    var workingBytes: Int { plan.workingBytes }

    func makeReader() -> any AnimationFrameSource { IsolatedFrames(decode, plan: plan, isReserved: true) }

    func frame(at index: Int, context: WorkContext) throws -> Bitmap {
        guard !isReserved else { return try made(at: index, context: context) }
        return try decode.budget.withReservation(of: workingBytes, context: context) {
            try made(at: index, context: context)
        }
    }

    private func made(at index: Int, context: WorkContext) throws -> Bitmap {
        let size = plan.finalSize
        return try decode.file.workers.ask(
            .frame, decode.file, decode.options, reserving: workingBytes, session: (session, index), context: context,
            memory: { [try SharedMemory(byteCount: size.bitmapBytes)] },
            { answer, memory in
                guard case .frame(let isOpaque) = answer else { throw WireError.invalid("no frame") }
                return try memory[0].bitmap(size: size, isOpaque: isOpaque)
            })
    }
}
