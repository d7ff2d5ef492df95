import Halcyon
import HalcyonProcessing

/// Processors that cut an image to a shape, or draw one.
enum ShapeEntries {
    static let all = [round, circle, border]

    private static let radius = """
        The radius in pixels, as a share of the width such as `10%`, or of the height such as `10%h`. It is limited \
        to half of the shorter side.
        """
    private static let corners =
        "Any of `tl`, `tr`, `br` and `bl` (top, bottom, left, right), separated by commas. All by default."
    private static let background = "The colour behind the image and around the shape. Clear by default."

    private static let round = ProcessorEntry(
        name: "round", title: "Round corners", type: "RoundCornersProcessor",
        text: "Cuts the corners of an image to circular arcs, with smooth edges.",
        forms: ["round=RADIUS[:corners=CORNERS][:border=WIDTH[,#COLOR]][:background=#COLOR][:size=WxH]"],
        brief: "round=RADIUS",
        parts: [
            .init("RADIUS", "", radius),
            .init("corners=CORNERS", "corners", corners),
            .init("border=WIDTH,#COLOR", "border", "A line along the inside of the edge, in pixels. Black by default."),
            .init("background=#COLOR", "background", background),
            .init(
                "size=WxH", "targetSize",
                "The size in pixels that the image is first scaled to fill. Its own by default."),
        ],
        example: "round=30", call: ".roundCorners(radius: 30)"
    ) { parts in
        .roundCorners(
            try parts.require("RADIUS", PartReader.radius), corners: parts.take("corners", PartReader.corners) ?? .all,
            background: parts.take("background", PartReader.color) ?? .clear,
            border: parts.take("border", PartReader.border), targetSize: parts.take("size", SizeArgument.size))
    }

    private static let circle = ProcessorEntry(
        name: "circle", title: "Circle", type: "CircleProcessor",
        text: "Cuts the largest circle out of the middle of an image.",
        forms: ["circle", "circle=[WIDTH][:#COLOR][:background=#COLOR]"], brief: "circle",
        parts: [
            .init("WIDTH", "border", "A line along the inside of the circle, in pixels. None by default."),
            .init(
                "#COLOR", "border", "The colour of the line. Black by default; a colour alone makes a line of 4 pixels."
            ),
            .init("background=#COLOR", "background", background),
        ],
        example: "circle=6:#fc6",
        call: ".circle(border: ImageBorder(width: 6, color: Color(red: 1, green: 0.8, blue: 0.4)))"
    ) { parts in
        let background = parts.take("background", PartReader.color) ?? .clear
        let (width, color) = (parts.take(PartReader.number), parts.take(PartReader.color))
        let border = width == nil && color == nil ? nil : ImageBorder(width: width ?? 4, color: color ?? .black)
        return .circle(border: border, background: background)
    }

    private static let border = ProcessorEntry(
        name: "border", title: "Border", type: "BorderProcessor",
        text: """
            Draws a line along the inside of an image's edge. The pixels outside of round corners stay; the processor \
            for round corners cuts them off.
            """,
        forms: ["border", "border=[WIDTH][:#COLOR][:RADIUS][:corners=CORNERS]"], brief: "border[=WIDTH]",
        parts: [
            .init("WIDTH", "width", "The width in pixels. 4 by default."),
            .init("#COLOR", "color", "The colour. Black by default."),
            .init("RADIUS", "radius", "\(radius) It is that of the line's outer edge; 0 by default."),
            .init("corners=CORNERS", "corners", corners),
        ],
        example: "border=6:#c36:20",
        call: """
            .border(width: 6, color: Color(red: 0.8, green: 0.2, blue: 0.4), radius: .pixels(20))
            """
    ) { parts in
        .border(
            width: parts.take(PartReader.number) ?? 4, color: parts.take(PartReader.color) ?? .black,
            radius: parts.take(PartReader.radius) ?? .pixels(0),
            corners: parts.take("corners", PartReader.corners) ?? .all)
    }
}
