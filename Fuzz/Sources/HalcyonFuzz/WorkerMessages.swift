import Foundation
import HalcyonImage
import HalcyonSystem

@testable import HalcyonCodecs

/// The messages between a program and its decode workers, one of which somebody may have taken over.
enum WorkerMessages {
    private static let number = 1
    private static let file = IsolatedFile(
        Data(), .jpeg, for: DecodeWorkers(count: 1, program: .file("/nonexistent")))

    /// Reads the input as each message; what can be read is the same once it was written again.
    static func read(_ data: Data) {
        let bytes = [UInt8](data)
        _ = try? WorkerGreeting(bytes)
        if let taken = PartTaken(bytes) { precondition(PartTaken(taken.bytes) == taken) }
        var reader = WireReader(bytes)
        if let request = try? WorkerRequest(&reader) {
            var again = WireReader(request.bytes)
            guard let copy = try? WorkerRequest(&again) else { fatalError("a request cannot be read again") }
            precondition(copy.bytes == request.bytes)
        }
        // Any number would do, and none is found by chance.
        let message = [1, 0, 0, 0, 0, 0, 0, 0] + bytes
        guard let answer = try? WorkerAnswer(message, to: number) else { return }
        precondition((try? WorkerAnswer(answer.bytes(to: number), to: number)) != nil)
        check(answer)
    }

    /// Checks the facts of an answer as a decode does: what they let through is within the limits.
    private static func check(_ answer: WorkerAnswer) {
        var options = DecodeOptions()
        options.target = TargetSize(PixelSize(100, 100))
        let decode = IsolatedDecode(file: file, options: options, budget: .shared)
        switch answer {
        case .plan(let facts): _ = try? DecodePlan(facts, options, by: decode)
        case .planned(let facts, let image):
            guard let plan = try? DecodePlan(facts, options, by: decode) else { return }
            precondition(plan.finalSize.width <= 100 && plan.finalSize.height <= 100)
            precondition(plan.workingBytes >= plan.finalSize.width * plan.finalSize.height * 4)
            if let extras = try? image.extraBytes(by: plan, within: options.limits) {
                precondition((0...WorkerResult.mostExtraBytes).contains(extras))
            }
        default: break
        }
    }
}
