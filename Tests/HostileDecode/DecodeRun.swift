import CZlib
import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport

/// Decodes one file in every way and measures each: whole with all frames, then encoded, small, while it arrives, and with 16 bits a
/// channel.
struct DecodeRun {
    private let decodeCase: DecodeCase
    private let data: Data
    private let context: WorkContext = .uncancellable

    init(_ decodeCase: DecodeCase) throws {
        self.decodeCase = decodeCase
        let file = try FileHandle(forReadingFrom: URL(filePath: decodeCase.path))
        data = Mutation.apply(seed: decodeCase.seed, to: try file.readToEnd() ?? Data())
    }

    /// With a budget of their own.
    private func makeCoders() -> CoderRegistry {
        CoderRegistry(CoderRegistry.standard().coders.reversed(), budget: DecodeBudget(capacity: decodeCase.budget))
    }

    func report() -> DecodeReport {
        // A file that is refused by its header has no pixels to work on.
        let info = (try? makeCoders().plan(data))?.info
        let pixels = (info?.size.area ?? 0) * (info?.frameCount ?? 0)
        var steps = [step("whole") { try whole($0) }]
        // The image of the first step must not count in the second, so it is decoded anew.
        if steps[0].outcome == "image" { steps.append(step("encode") { try encode($0) }) }
        steps.append(step("small") { try small($0) })
        steps.append(step("arriving") { try arriving($0) })
        steps.append(step("deep") { try deep($0, target: nil) })
        steps.append(step("deep small") { try deep($0, target: TargetSize(PixelSize(24, 24))) })
        return DecodeReport(
            steps: steps, decodeCase: decodeCase, bytes: data.count, pixels: pixels,
            frameBytes: info?.size.bitmapBytes ?? 0)
    }

    private func step(_ name: String, _ body: (CoderRegistry) throws -> UInt) -> DecodeReport.Step {
        // Free pages of the heap that stay resident would hide what the step takes.
        HeapTrim.after(.max)
        ProcessMemory.resetPeak()
        let before = ProcessMemory.resident
        // A worker that is started in the step is not the file's.
        let workers = ProcessMemory.children.compactMap { id in ProcessMemory.resetPeak(of: id).map { (id, $0) } }
        let start = ProcessTime.seconds + ProcessTime.seconds(of: workers.map(\.0))
        let coders = makeCoders()
        let outcome: String
        var checksum: UInt = 0
        do {
            checksum = try body(coders)
            outcome = "image"
        } catch let error as CodecError {
            outcome = error.code
        } catch let error as BitmapError {
            outcome = "bitmap: \(error)"
        } catch {
            outcome = "untyped: \(error)"
        }
        return DecodeReport.Step(
            name: name, outcome: outcome, checksum: checksum, reserved: coders.budget.bytes.maximumReserved,
            peak: workers.reduce(max(0, ProcessMemory.peak - before)) {
                $0 + max(0, ProcessMemory.peak(of: $1.0) - $1.1)
            },
            seconds: max(0, ProcessTime.seconds + ProcessTime.seconds(of: workers.map(\.0)) - start))
    }

    private func whole(_ coders: CoderRegistry) throws -> UInt {
        try readFrames(of: try coders.decode(data))
    }

    private func small(_ coders: CoderRegistry) throws -> UInt {
        try readFrames(of: try coders.decode(data, options: DecodeOptions(target: TargetSize(PixelSize(24, 24)))))
    }

    /// To a space that all colours are converted to.
    private func deep(_ coders: CoderRegistry, target: TargetSize?) throws -> UInt {
        let format = DeepBitmap.Format(.float16, colorSpace: .displayP3)
        let options = DecodeOptions(target: target, firstFrameOnly: true, depth: format)
        let image = try coders.decode(data, options: options)
        guard let deep = image.deepBitmap, deep.size == image.size else {
            throw CodecError.damaged(image.info.format, reason: "its deep pixels have another size")
        }
        return deep.withPixels { Self.checksum($0) }
    }

    /// - Throws: the first frame's error behind the whole image's, whose others may be broken.
    private func readFrames(of image: Image) throws -> UInt {
        var checksum = image.withPixels { Self.checksum($0) }
        guard let animation = image.animation else { return checksum }
        for index in 0..<animation.frameCount {
            let frame = try animation.frame(at: index)
            guard frame.size == animation.size else {
                throw CodecError.damaged(image.info.format, reason: "a frame has another size")
            }
            checksum = frame.withPixels { Self.checksum($0, after: checksum) }
        }
        return checksum
    }

    private static func checksum(_ pixels: UnsafeRawBufferPointer, after former: UInt = 0) -> UInt {
        crc32_z(former, pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), pixels.count)
    }

    private func encode(_ coders: CoderRegistry) throws -> UInt {
        let image = try coders.decode(data)
        let file = try coders.encode(image, as: image.animation == nil && image.bitmap.isOpaque ? .jpeg : .png)
        guard try coders.probe(file).size == image.size else {
            throw CodecError.encodingFailed(.png, reason: "it has another size")
        }
        return file.withUnsafeBytes { Self.checksum($0) }
    }

    /// In four pieces, with a preview behind each.
    private func arriving(_ coders: CoderRegistry) throws -> UInt {
        guard let decoding = coders.makeProgressive(for: data) else { return 0 }
        let piece = max(1, data.count / 4)
        var checksum: UInt = 0
        for start in stride(from: 0, to: data.count, by: piece) {
            try decoding.append(data.dropFirst(start).prefix(piece), context: context)
            if let preview = try decoding.preview(context: context) {
                checksum = preview.withPixels { Self.checksum($0, after: checksum) }
            }
        }
        let image = try decoding.finish(context: context)
        return image.withPixels { Self.checksum($0, after: checksum) }
    }
}

enum ProcessTime {
    /// The processor time of all threads of the process.
    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The processor time of other processes, of which one that has ended counts as none.
    static func seconds(of processes: [pid_t]) -> Double {
        processes.reduce(0) { sum, process in
            var (clock, time) = (clockid_t(), timespec())
            guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return sum }
            return sum + Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }
}
