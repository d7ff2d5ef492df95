import Halcyon
import HalcyonProcessing

/// Processors that change a pixel's colour.
enum ColorEntries {
    static let all = [colors, blackWhite, sepia, invert, opacity, overlay, tint, blend, matrix]

    private static let modes = BlendMode.allCases.map { "`\(PartReader.spelling($0))`" }.joined(separator: ", ")

    private static let colors = ProcessorEntry(
        name: "colors", title: "Colour controls", type: "ColorControlsProcessor",
        text: """
            Changes saturation, contrast, brightness and exposure, in that order: on sRGB values from 0 to 1, \
            clamped at the end.
            """,
        forms: ["colors=[brightness=B][:contrast=C][:saturation=S][:exposure=E]"], brief: "colors=contrast=1.2:...",
        parts: [
            .init("brightness=B", "brightness", "The value to add: -1 is black, 1 white. 0 by default."),
            .init("contrast=C", "contrast", "The factor around the middle: 0 is an even grey. 1 by default."),
            .init("saturation=S", "saturation", "The factor of saturation: 0 is grey. 1 by default."),
            .init("exposure=E", "exposure", "The exposure in stops: 1 doubles the values. 0 by default."),
        ],
        example: "colors=contrast=1.2:saturation=1.8", call: ".colorControls(contrast: 1.2, saturation: 1.8)"
    ) { parts in
        try parts.requireAny("brightness, contrast, saturation or exposure")
        let names = ["brightness", "contrast", "saturation", "exposure"]
        let values = names.map { parts.take($0, PartReader.number) }
        return .colorControls(
            brightness: values[0] ?? 0, contrast: values[1] ?? 1, saturation: values[2] ?? 1, exposure: values[3] ?? 0)
    }

    private static let blackWhite = ProcessorEntry(
        name: "blackwhite", title: "Black and white", type: "BlackWhiteProcessor",
        text: "Makes an image grey and a little lighter: colour controls with no saturation and 0.7 stops.",
        forms: ["blackwhite"], brief: "blackwhite", example: "blackwhite", call: ".blackWhite"
    ) { _ in .blackWhite }

    private static let sepia = ProcessorEntry(
        name: "sepia", title: "Sepia", type: "SepiaProcessor",
        text: "Gives an image the brown of an old photograph.", forms: ["sepia", "sepia=INTENSITY"],
        brief: "sepia[=INTENSITY]",
        parts: [.init("INTENSITY", "intensity", "The strength: 0 (no change) to 1, the default.")],
        example: "sepia", call: ".sepia()"
    ) { .sepia(intensity: $0.take(PartReader.number) ?? 1) }

    private static let invert = ProcessorEntry(
        name: "invert", title: "Invert", type: "InvertProcessor",
        text: "Makes each colour its complement; alpha stays.", forms: ["invert"], brief: "invert", example: "invert",
        call: ".invert"
    ) { _ in .invert }

    private static let opacity = ProcessorEntry(
        name: "opacity", title: "Opacity", type: "OpacityProcessor", text: "Makes an image more transparent.",
        forms: ["opacity=ALPHA"], brief: "opacity=ALPHA",
        parts: [.init("ALPHA", "", "The factor of alpha: 0 (clear) to 1 (no change).")],
        example: "opacity=0.4", call: ".opacity(0.4)"
    ) { .opacity(try $0.require("ALPHA", PartReader.number)) }

    private static let overlay = ProcessorEntry(
        name: "overlay", title: "Overlay", type: "OverlayProcessor",
        text: "Draws a colour over an image, only where the image is.", forms: ["overlay=#COLOR[:FRACTION]"],
        brief: "overlay=#COLOR",
        parts: [
            .init("#COLOR", "", "The colour. A lower alpha shows more of the image."),
            .init("FRACTION", "fraction", "The share of the image in the result, 0 to 1. 0.5 by default."),
        ],
        example: "overlay=#36c:0.4", call: ".overlay(Color(red: 0.2, green: 0.4, blue: 0.8), fraction: 0.4)",
        scene: .cutOut
    ) { .overlay(try $0.require("#COLOR", PartReader.color), fraction: $0.take(PartReader.number) ?? 0.5) }

    private static let tint = ProcessorEntry(
        name: "tint", title: "Tint", type: "TintProcessor",
        text: """
            Draws a colour onto an image. By default it is drawn over the image and only where it is, which makes a \
            silhouette with an opaque colour.
            """,
        forms: ["tint=#COLOR[:MODE]"], brief: "tint=#COLOR",
        parts: [
            .init("#COLOR", "", "The colour to draw."),
            .init("MODE", "mode", "`source-atop` by default. The modes are \(modes)."),
        ],
        example: "tint=#c36:color", call: ".tint(Color(red: 0.8, green: 0.2, blue: 0.4), mode: .color)"
    ) { .tint(try $0.require("#COLOR", PartReader.color), mode: $0.take(PartReader.blendMode) ?? .sourceAtop) }

    private static let blend = ProcessorEntry(
        name: "blend", title: "Blend", type: "BlendProcessor", text: "Draws an image over a background of one colour.",
        forms: ["blend=[MODE][:ALPHA][:#COLOR]"], brief: "blend=MODE:#COLOR",
        parts: [
            .init("MODE", "", "One of the modes of `tint`. `over` by default."),
            .init("ALPHA", "alpha", "The factor of the image's alpha, 0 to 1. 1 by default."),
            .init("#COLOR", "background", "The background. Clear by default."),
        ],
        example: "blend=multiply:0.9:#fc6",
        call: ".blend(.multiply, alpha: 0.9, background: Color(red: 1, green: 0.8, blue: 0.4))", scene: .cutOut
    ) { parts in
        try parts.requireAny("MODE, ALPHA or #COLOR")
        return .blend(
            parts.take(PartReader.blendMode) ?? .over, alpha: parts.take(PartReader.number) ?? 1,
            background: parts.take(PartReader.color) ?? .clear)
    }

    private static let matrix = ProcessorEntry(
        name: "matrix", title: "Colour matrix", type: "ColorMatrixProcessor",
        text: """
            Multiplies each pixel with a matrix: red, green, blue and alpha, each from 0 to 1 and not multiplied \
            with alpha. The result is clamped. In the picture, red and blue are exchanged.
            """,
        forms: ["matrix=N,N,...,N"], brief: "matrix=N,...",
        parts: [
            .init(
                "N,N,...,N", "",
                """
                Twelve or twenty numbers, row by row. Twelve numbers are rows for the red, green and blue of the \
                result; the columns are for the red, green and blue of the image, and a constant to add. Twenty numbers \
                have a fourth row for alpha, and a column for alpha before the constant.
                """)
        ],
        example: "matrix=0,0,1,0,0,1,0,0,1,0,0,0",
        call: ".colorMatrix(ColorMatrix(red: .init(0, 0, 1), green: .init(0, 1, 0), blue: .init(1, 0, 0)))"
    ) { .colorMatrix(try $0.require("list of 12 or 20 numbers", PartReader.matrix)) }
}
