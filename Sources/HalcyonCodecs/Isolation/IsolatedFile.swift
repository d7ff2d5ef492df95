import Foundation
import HalcyonImage
import HalcyonSystem

/// A file for the workers, from its plan on until its last frame.
final class IsolatedFile: Sendable {
    /// The most memory that a worker may take for a decode that the program has not planned, in bytes. A thumbnail takes less: one
    /// question then makes the plan and the image.
    private static let bytesAtOnce = 8 << 20

    let format: ImageFormat
    let workers: DecodeWorkers
    let data: Data
    /// No other file of the workers has this number.
    let number: Int

    /// - Parameter number: the number of the file; nil makes a new one.
    init(_ data: Data, _ format: ImageFormat, for workers: DecodeWorkers, number: Int? = nil) {
        (self.data, self.format, self.workers) = (data, format, workers)
        self.number = number ?? workers.nextNumber()
    }

    /// The bytes of the copy that a worker gets of a large file, while it has it.
    var copiedBytes: Int { data.count > WorkerArena.fileBytes ? data.count : 0 }

    /// Returns the facts in the header, which a worker reads.
    ///
    /// - Throws: `CodecError`, `CancellationError`.
    func info() throws -> ImageInfo {
        try workers.ask(WorkerQuestion(.probe, self, DecodeOptions()), context: .uncancellable) { answer, _ in
            guard case .info(let info) = answer, info.format == format else { throw WireError.invalid("no header") }
            return info
        }
    }

    /// Returns the plan that a worker makes. All that a plan computes from the header, this process computes itself.
    ///
    /// - Parameters:
    ///   - budget: the budget from which the frames of an animation reserve their memory.
    ///   - isArriving: whether this is the beginning of a file.
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func plan(
        _ options: DecodeOptions, budget: DecodeBudget, isArriving: Bool = false, context: WorkContext
    ) throws -> DecodePlan {
        var question = WorkerQuestion(.plan, self, options)
        question.isArriving = isArriving
        return try workers.ask(question, context: context) { answer, _ in
            guard case .plan(let facts) = answer else { throw WireError.invalid("no plan") }
            return try plan(facts, options, budget, by: question)
        }
    }

    /// Rewrites the file in another format.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func transcoded(by plan: TranscodePlan, context: WorkContext) throws -> Data {
        var question = WorkerQuestion(.transcode, self, DecodeOptions(limits: plan.limits))
        (question.bytes, question.transcode) = (plan.workingBytes, plan)
        let noPixels = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return try workers.ask(question, context: context, pixels: noPixels) { answer, result in
            guard case .bytes(let count) = answer, count <= plan.workingBytes else {
                throw WireError.invalid("no file of the other format")
            }
            let bytes = try result.finish(noPixels, extraBytes: count)
            guard FormatSniffer.hasSignature(bytes, of: plan.format) else { throw WireError.invalid("another format") }
            return bytes
        }
    }

    private func plan(
        _ facts: PlanFacts, _ options: DecodeOptions, _ budget: DecodeBudget, by question: WorkerQuestion
    ) throws -> DecodePlan {
        guard facts.info.format == format else { throw WireError.invalid("a plan for \(facts.info.format)") }
        let decode = IsolatedDecode(file: self, options: options, budget: budget, number: question.number)
        return try DecodePlan(facts, options, by: decode)
    }

    /// Decodes the file: with one question if the decode takes little memory, which is reserved ahead.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    func image(_ options: DecodeOptions, budget: DecodeBudget, context: WorkContext) throws -> Image {
        let bytes = Self.bytesAtOnce.adding(1, times: copiedBytes)
        let plan: DecodePlan
        if !options.preloadAllFrames, budget.bytes.reserveNow(bytes) {
            defer { budget.bytes.release(bytes) }
            let (made, image) = try planAndImage(options, budget: budget, context: context)
            if let image { return image }
            plan = made
        } else {
            plan = try self.plan(options, budget: budget, context: context)
        }
        return try budget.withReservation(of: plan.workingBytes, context: context) {
            try IsolatedDecode(file: self, options: options, budget: budget, number: plan.isolated?.number ?? 0)
                .image(by: plan, context: context)
        }
    }

    /// Returns the plan, and the image if the worker has made it at once.
    private func planAndImage(
        _ options: DecodeOptions, budget: DecodeBudget, context: WorkContext
    ) throws -> (DecodePlan, Image?) {
        var question = WorkerQuestion(.decode, self, options)
        (question.bytes, question.mostBytes) = (Self.bytesAtOnce, Self.bytesAtOnce)
        return try workers.ask(question, context: context) { answer, result in
            switch answer {
            case .plan(let facts): return (try plan(facts, options, budget, by: question), nil)
            case .planned(let facts, let image):
                let plan = try plan(facts, options, budget, by: question)
                guard plan.workingBytes - copiedBytes <= Self.bytesAtOnce else {
                    throw WireError.invalid("a decode of more memory than it was granted")
                }
                return (plan, try plan.isolated?.image(image, by: plan, &result))
            default: throw WireError.invalid("no image")
            }
        }
    }
}
