import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport

/// Decodes one file in every way and measures each: whole with all frames, then encoded, small, and while it arrives.
struct DecodeRun {
    private let decodeCase: DecodeCase
    private let data: Data
    private let coders: CoderRegistry
    private let context: WorkContext = .uncancellable

    init(_ decodeCase: DecodeCase) throws {
        self.decodeCase = decodeCase
        let file = try FileHandle(forReadingFrom: URL(filePath: decodeCase.path))
        data = Mutation.apply(seed: decodeCase.seed, to: try file.readToEnd() ?? Data())
        coders = CoderRegistry(
            CoderRegistry.standard().coders.reversed(), budget: DecodeBudget(capacity: decodeCase.budget))
    }

    func report() -> DecodeReport {
        // What is refused by its header has no pixels that anybody could work on.
        let info = (try? coders.plan(data))?.info
        let pixels = (info?.size.area ?? 0) * (info?.frameCount ?? 0)
        var steps = [step("whole") { try whole($0) }]
        // The image of the first step must not count in the second, so it is decoded anew.
        if steps[0].outcome == "image" { steps.append(step("encode") { try encode($0) }) }
        steps.append(step("small") { try small($0) })
        steps.append(step("arriving") { try arriving($0) })
        return DecodeReport(
            steps: steps, decodeCase: decodeCase, bytes: data.count, pixels: pixels,
            frameBytes: info?.size.bitmapBytes ?? 0)
    }

    /// What a step notes of its reservation while it runs.
    private final class Reserved {
        var most = 0
        func note(_ bytes: Int) { most = max(most, bytes) }
    }

    private func step(_ name: String, _ body: (Reserved) throws -> Void) -> DecodeReport.Step {
        // Free pages of the heap that stay resident would hide what the step takes.
        HeapTrim.after(.max)
        ProcessMemory.resetPeak()
        let before = ProcessMemory.resident
        let start = ProcessTime.seconds
        let reserved = Reserved()
        let outcome: String
        do {
            try body(reserved)
            outcome = "image"
        } catch let error as CodecError {
            outcome = error.code
        } catch let error as BitmapError {
            outcome = "bitmap: \(error)"
        } catch {
            outcome = "untyped: \(error)"
        }
        return DecodeReport.Step(
            name: name, outcome: outcome, reserved: reserved.most, peak: max(0, ProcessMemory.peak - before),
            seconds: ProcessTime.seconds - start)
    }

    private func whole(_ reserved: Reserved) throws {
        reserved.note(try coders.plan(data).workingBytes)
        try readFrames(of: try coders.decode(data), reserved)
    }

    private func small(_ reserved: Reserved) throws {
        let options = DecodeOptions(target: TargetSize(PixelSize(24, 24)))
        reserved.note(try coders.plan(data, options: options).workingBytes)
        try readFrames(of: try coders.decode(data, options: options), reserved)
    }

    /// - Throws: the first frame's error behind the whole image's, whose others may be broken.
    private func readFrames(of image: Image, _ reserved: Reserved) throws {
        guard let animation = image.animation else { return }
        for index in 0..<animation.frameCount {
            reserved.note(coders.budget.capacity - coders.budget.available)
            guard try animation.frame(at: index).size == animation.size else {
                throw CodecError.damaged(image.info.format, reason: "a frame has another size")
            }
        }
    }

    private func encode(_ reserved: Reserved) throws {
        reserved.note(try coders.plan(data).workingBytes)
        let image = try coders.decode(data)
        let file = try coders.encode(image, as: image.animation == nil && image.bitmap.isOpaque ? .jpeg : .png)
        reserved.note(coders.budget.capacity - coders.budget.available)
        guard try coders.probe(file).size == image.size else {
            throw CodecError.encodingFailed(.png, reason: "it has another size")
        }
    }

    /// In four pieces, with a preview behind each.
    private func arriving(_ reserved: Reserved) throws {
        guard let decoding = coders.makeProgressive(for: data) else { return }
        if let plan = try? coders.plan(data) { reserved.note(plan.workingBytes) }
        let piece = max(1, data.count / 4)
        for start in stride(from: 0, to: data.count, by: piece) {
            try decoding.append(data.dropFirst(start).prefix(piece), context: context)
            _ = try decoding.preview(context: context)
            reserved.note(coders.budget.capacity - coders.budget.available)
        }
        _ = try decoding.finish(context: context)
    }
}

enum ProcessTime {
    /// Of all threads of the process.
    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
