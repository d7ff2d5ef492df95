import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonProcessing

/// Measures what a reduction in linear light costs, beside the same one in encoded light.
struct LightSuite: Suite {
    let names = ["resize-light"]

    /// A picture, its name, and the size that it is reduced to.
    private struct Reduction: Sendable {
        let title: String
        let image: Image
        let target: PixelSize

        var repeats: Int { max(1, 12_000_000 / (image.width * image.height)) }
    }

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let large = PixelSize(4000, 3000)
        let sizes = [
            (large, PixelSize(512, 384)), (PixelSize(2048, 1536), PixelSize(320, 240)),
            (PixelSize(1536, 1152), PixelSize(1024, 768)), (PixelSize(640, 480), PixelSize(1280, 960)),
        ]
        let reductions = try sizes.flatMap { source, target -> [Reduction] in
            let opaque = try NoiseImage.make(source, seed: 11)
            let text = "\(source.width) to \(target.width) px"
            let disc = try CircleProcessor.circle().process(opaque, context: .uncancellable)
            return [
                Reduction(title: text, image: opaque, target: target),
                Reduction(title: "disc, \(text)", image: disc, target: PixelSize(target.height, target.height)),
                Reduction(
                    title: "half transparent, \(text)",
                    image: try OpacityProcessor.opacity(0.5).process(opaque, context: .uncancellable), target: target),
            ]
        }
        return reductions.map(Self.resize) + [try Self.decode(NoiseImage.make(large, seed: 11))]
    }

    private static func resize(_ reduction: Reduction) -> Comparison {
        let run = { @Sendable (light: ResizeLight) in
            let processor = ResizeProcessor.resize(to: reduction.target, mode: .stretch, upscale: true, light: light)
            return try OneCore.run {
                try Sample.of {
                    for _ in 0..<reduction.repeats {
                        _ = try processor.process(reduction.image, context: .uncancellable)
                    }
                }
            }
        }
        return Comparison(
            name: "resize-light", variant: reduction.title, unit: .milliseconds, operations: reduction.repeats,
            subject: { try run(.linear) }, floor: { try run(.encoded) })
    }

    /// A JPEG, which is decoded in full for linear light, and at a quarter otherwise.
    private static func decode(_ image: Image) throws -> Comparison {
        let data = try CoderRegistry.shared.encode(image, as: .jpeg)
        let run = { @Sendable (light: ResizeLight) in
            let target = TargetSize(PixelSize(512, 384), light: light)
            return try OneCore.run {
                try Sample.of { _ = try CoderRegistry.shared.decode(data, options: DecodeOptions(target: target)) }
            }
        }
        return Comparison(
            name: "resize-light", variant: "JPEG, 4000 to 512 px", unit: .milliseconds, operations: 1,
            subject: { try run(.linear) }, floor: { try run(.encoded) })
    }
}
