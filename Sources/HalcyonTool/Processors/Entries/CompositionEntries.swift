import Halcyon
import HalcyonProcessing

/// Processors that use another image.
enum CompositionEntries {
    static let all = [watermark]

    private static let watermark = ProcessorEntry(
        name: "watermark", title: "Watermark", type: "WatermarkProcessor",
        text: "Draws another image over an image. Parts that do not fit are cut off.",
        forms: ["watermark=FILE[@X%,Y%][:OPACITY][:margin=PIXELS][:width=N%]"], brief: "watermark=FILE",
        parts: [
            .init("FILE", "", "The image, in any format that can be read; an animation's first frame."),
            .init(
                "@X%,Y%", "anchorX, anchorY",
                "The position: 0% is left or top, 50% the middle, 100% (the default) right or bottom. Values are clamped."
            ),
            .init("OPACITY", "opacity", "The opacity: 0 to 1, the default."),
            .init("margin=PIXELS", "margin", "The distance to each edge. 0 by default."),
            .init(
                "width=N%", "widthFraction",
                "The width as a share of the image's. By default, the watermark keeps its size."),
        ],
        example: "watermark=logo.png@0%,0%:0.8:margin=8",
        call: ".watermark(logo, anchorX: 0, anchorY: 0, margin: 8, opacity: 0.8)"
    ) { parts in
        let opacity = parts.take(PartReader.number) ?? 1
        let margin = parts.take("margin", PartReader.integer) ?? 0
        let width = parts.take("width", PartReader.share)
        let (mark, anchor) = try parts.takeImage(PartReader.anchor)
        return .watermark(
            mark, anchorX: anchor?.x ?? 1, anchorY: anchor?.y ?? 1, margin: margin, widthFraction: width,
            opacity: opacity)
    }
}
