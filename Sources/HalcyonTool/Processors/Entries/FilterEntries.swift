import Halcyon
import HalcyonProcessing

/// Processors that read a pixel's neighbours.
enum FilterEntries {
    static let all = [blur, sharpen, pixelate]

    private static let blur = ProcessorEntry(
        name: "blur", title: "Blur", type: "BlurProcessor",
        text: "Blurs an image with a Gaussian, in a time that does not depend on the radius.",
        forms: ["blur=RADIUS"], brief: "blur=RADIUS",
        parts: [
            .init(
                "RADIUS", "radius", "The standard deviation in pixels: 0 (no change) to 1,000.")
        ],
        example: "blur=4", call: ".blur(radius: 4)"
    ) { .blur(radius: try $0.require("RADIUS", PartReader.number)) }

    private static let sharpen = ProcessorEntry(
        name: "sharpen", title: "Sharpen", type: "SharpenProcessor",
        text: "Sharpens edges, by adding the difference from a blurred copy.",
        forms: ["sharpen", "sharpen=AMOUNT[:RADIUS]"], brief: "sharpen[=AMOUNT]",
        parts: [
            .init("AMOUNT", "amount", "The factor of the difference: 0 (no change) to 100. 0.5 by default."),
            .init(
                "RADIUS", "radius", "The radius of the blur in pixels, 0 to 1,000. 1 by default."
            ),
        ],
        example: "sharpen=2:1.5", call: ".sharpen(amount: 2, radius: 1.5)"
    ) { .sharpen(amount: $0.take(PartReader.number) ?? 0.5, radius: $0.take(PartReader.number) ?? 1) }

    private static let pixelate = ProcessorEntry(
        name: "pixelate", title: "Pixelate", type: "PixelateProcessor",
        text: "Fills squares with their mean colours, starting at the top left.", forms: ["pixelate=SIDE"],
        brief: "pixelate=SIDE",
        parts: [.init("SIDE", "side", "The side of a square in pixels, at least 1 (no change).")],
        example: "pixelate=8", call: ".pixelate(side: 8)"
    ) { .pixelate(side: try $0.require("SIDE (whole pixels)", PartReader.integer)) }
}
