import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Small files that declare, or unpack to, more than anybody has: refused for what they are.
///
/// That it takes no time and no memory is measured by the benchmarks.
@Suite(.timeLimit(.minutes(5))) struct BombTests {
    let registry = CoderRegistry.standard()

    @Test func theIndexIsThere() {
        #expect(Bomb.all.count > 450)
    }

    @Test(arguments: Bomb.all)
    func isRefused(_ bomb: Bomb) throws {
        let data = try bomb.data()
        let small = DecodeOptions(target: TargetSize(PixelSize(40, 40)))
        for options in [DecodeOptions(), small, DecodeOptions(decodesGainMap: true)] {
            // Its rows are reduced as they come.
            let isReduced = options == small && bomb.name == "whole-17000x17000.png"
            let accepted = isReduced ? ["image"] : bomb.accepted
            #expect(
                accepted.contains(outcome { try readFrames(of: registry.decode(data, options: options)) }),
                "\(bomb.why)")
        }
        // A header that can be read is a valid result; one that cannot is an error of the same kinds.
        let probe = outcome { try registry.probe(data) }
        #expect(["image", "limitExceeded", "damagedImage", "notAnImage"].contains(probe))
    }

    /// No preview costs more than the image would.
    @Test(arguments: Bomb.all)
    func isRefusedWhileItArrives(_ bomb: Bomb) throws {
        let data = try bomb.data()
        guard data.count < 1 << 20, let decoding = registry.makeProgressive(for: data) else { return }
        let result = outcome {
            for start in stride(from: 0, to: data.count, by: 4096) {
                try decoding.append(data.dropFirst(start).prefix(4096))
                _ = try decoding.preview(context: .uncancellable)
            }
            return try decoding.finish(context: .uncancellable)
        }
        #expect(bomb.accepted.contains(result), "\(bomb.why)")
    }

    /// Reads some frames of an animation: the first ones, and the last, which may need all others.
    private func readFrames(of image: Image) throws {
        guard let frames = image.animation else { return }
        for index in [1, 2, frames.frameCount - 1] where index < frames.frameCount {
            let frame = try frames.frame(at: index)
            #expect(frame.size == image.size)
        }
    }

    private func outcome(_ body: () throws -> some Any) -> String {
        do {
            _ = try body()
            return "image"
        } catch let error as CodecError {
            return error.code
        } catch {
            return "\(error)"
        }
    }
}
