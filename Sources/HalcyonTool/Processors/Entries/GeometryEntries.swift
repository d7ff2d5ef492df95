import Halcyon
import HalcyonProcessing

/// Processors that cut, turn, scale and enlarge.
enum GeometryEntries {
    static let all = [resize, crop, flip, rotate, pad]

    private static let color = "The background. Clear by default."
    private static let anchor =
        "The position: 0% is left or top, 50% (the default) the middle, 100% right or bottom. Values are clamped."

    private static let resize = ProcessorEntry(
        name: "resize", title: "Resize", type: "ResizeProcessor",
        text: """
            Scales an image to a box of pixels. As the first step of a request it is part of the decode: a JPEG or \
            WebP is then decoded at about that size, which is several times faster than in full.

            The filter averages the values of sRGB, as most programs do. They are not amounts of light, so fine details of \
            strong contrast become too dark: a checkerboard of black and white has the value 188 from far away, not 128. \
            `linear` averages light. Take it for foliage against the sky, lights at night, patterns and halftones. Smooth \
            pictures do not change visibly, and thin dark lines and text on a bright ground become fainter: leave it off for \
            them. The scaling takes up to 1.2 times as long, 1.3 times for a picture without an opaque pixel, on a processor with \
            AVX2; a JPEG or WebP is then decoded in full, since its own reduction averages sRGB.
            """,
        forms: [
            "resize=WxH[:fit|fill|stretch][:upscale][:linear][:FILTER][:sharpen=AMOUNT]",
            "resize=Wx[:upscale][:linear][:FILTER][:sharpen=AMOUNT]",
            "resize=xH[:upscale][:linear][:FILTER][:sharpen=AMOUNT]",
        ],
        brief: "resize=WxH[:fit|fill|stretch]",
        parts: [
            .init("WxH", "to", "The box in pixels. Sides are 1 to 65,535."),
            .init(
                "Wx", "width", "The width in pixels, 1 to 65,535. The height follows, so that the aspect ratio stays."),
            .init("xH", "height", "The height in pixels, 1 to 65,535. The width follows."),
            .init(
                "fit, fill, stretch", "mode",
                "`fit`, the default: inside the box. `fill`: covers the box, cropped to it. `stretch`: exactly the box."
            ),
            .init("upscale", "upscale", "Permits a result that is larger than the source. Off by default."),
            .init(
                "linear", "light",
                "Averages amounts of light in place of the values of sRGB, for fine details of strong contrast. Off by default."
            ),
            .init("FILTER", "filter", "The filter: `nearest`, `area`, `bilinear` or `lanczos`, the default."),
            .init(
                "sharpen=AMOUNT", "sharpening",
                """
                Sharpens what becomes smaller on both sides, by an amount from 0, the default, to 100. `sharpen=0.5` gives a \
                thumbnail the edges that its source has.
                """
            ),
        ],
        example: "resize=80x80:fill", call: ".resize(to: PixelSize(80, 80), mode: .fill)"
    ) { parts in
        let upscale = parts.take(word: "upscale")
        let light: ResizeLight = parts.take(word: "linear") ? .linear : .encoded
        let filter: ResizeFilter = parts.take(PartReader.word) ?? .lanczos
        let sharpening = parts.take("sharpen", PartReader.number) ?? 0
        if let width = parts.take(PartReader.width) {
            return .resize(
                width: width, upscale: upscale, filter: filter, light: light, sharpening: sharpening)
        }
        if let height = parts.take(PartReader.height) {
            return .resize(
                height: height, upscale: upscale, filter: filter, light: light, sharpening: sharpening)
        }
        let size = try parts.require("WxH", SizeArgument.size)
        let mode: ResizeMode = parts.take(PartReader.word) ?? .fit
        return .resize(
            to: size, mode: mode, upscale: upscale, filter: filter, light: light, sharpening: sharpening)
    }

    private static let crop = ProcessorEntry(
        name: "crop", title: "Crop", type: "CropProcessor",
        text: """
            Keeps a rectangle of an image. The parts outside the image are left out; a rectangle that is entirely \
            outside is an error.

            `smart` finds the place by the picture: where colours differ from the rest, where details are, and colours of skin. \
            `smart-ratio` keeps the largest part with the ratio of the sides, so that a `resize` behind it fills a box with what \
            matters.
            """,
        forms: ["crop=WxH[@X,Y]", "crop=WxH@X%,Y%", "crop=WxH@smart|smart-ratio"], brief: "crop=WxH[@X,Y]",
        parts: [
            .init("WxH", "to", "The size in pixels, in the middle without X and Y. Sides are at least 1."),
            .init("@X,Y", "PixelRect", "The position in pixels from the top left."),
            .init("@X%,Y%", "anchorX, anchorY", anchor),
            .init(
                "@smart, @smart-ratio", "smartCrop",
                "The most salient place of that size, or of the largest part with the ratio of its sides."),
        ],
        example: "crop=100x80@20,30", call: ".crop(PixelRect(x: 20, y: 30, width: 100, height: 80))"
    ) { parts in
        if let rect = parts.take(PartReader.rect) { return .crop(rect) }
        if let size = parts.take({ PartReader.size($0, at: "@smart") }) { return .smartCrop(to: size) }
        if let ratio = parts.take({ PartReader.size($0, at: "@smart-ratio") }) { return .smartCrop(ratio: ratio) }
        let place = try parts.require("WxH[@X,Y]", PartReader.anchored)
        return .crop(to: place.size, anchorX: place.x, anchorY: place.y)
    }

    private static let flip = ProcessorEntry(
        name: "flip", title: "Flip", type: "FlipProcessor", text: "Mirrors an image.",
        forms: ["flip=horizontal|vertical"],
        brief: "flip=horizontal|vertical",
        parts: [
            .init(
                "horizontal, vertical", "",
                "`horizontal` exchanges left and right, `vertical` top and bottom.")
        ],
        example: "flip=horizontal", call: ".flip(.horizontal)"
    ) { .flip(try $0.require("axis", PartReader.word)) }

    private static let rotate = ProcessorEntry(
        name: "rotate", title: "Rotate", type: "RotateProcessor",
        text: """
            Rotates an image clockwise by any angle. Quarter turns only move pixels; other angles are sampled \
            bilinearly, with smooth edges.
            """,
        forms: ["rotate=DEGREES[:fit|keep][:#COLOR]"], brief: "rotate=DEGREES",
        parts: [
            .init("DEGREES", "degrees", "The angle, clockwise; a negative one is counterclockwise."),
            .init(
                "fit, keep", "fitsSize",
                "`fit`, the default: the result grows to contain the whole image. `keep`: the size stays, and corners are cut off."
            ),
            .init("#COLOR", "background", color),
        ],
        example: "rotate=20", call: ".rotate(degrees: 20)"
    ) { parts in
        let degrees = try parts.require("DEGREES", PartReader.number)
        let keeps = parts.take(word: "keep")
        // `fit` is the default and may be given; both words together are an error.
        if !keeps { _ = parts.take(word: "fit") }
        return .rotate(degrees: degrees, fitsSize: !keeps, background: parts.take(PartReader.color) ?? .clear)
    }

    private static let pad = ProcessorEntry(
        name: "pad", title: "Pad", type: "PadProcessor",
        text: "Places an image on a larger background, which also shows through its transparent parts.",
        forms: ["pad=PIXELS[:#COLOR]", "pad=TOP,LEFT,BOTTOM,RIGHT[:#COLOR]", "pad=WxH[@X%,Y%][:#COLOR]"],
        brief: "pad=PIXELS",
        parts: [
            .init("PIXELS", "", "The pixels on each side, 0 or more."),
            .init("TOP,LEFT,BOTTOM,RIGHT", "top, left, bottom, right", "The pixels on each side, 0 or more."),
            .init(
                "WxH", "to", "The minimum size in pixels; a longer side of the image stays. Sides are at least 1."),
            .init("@X%,Y%", "anchorX, anchorY", anchor),
            .init("#COLOR", "background", color),
        ],
        example: "pad=14:#fc6", call: ".pad(14, background: Color(red: 1, green: 0.8, blue: 0.4))"
    ) { parts in
        let background = parts.take(PartReader.color) ?? .clear
        if let insets = parts.take(PartReader.insets) { return PadProcessor(insets, background: background) }
        let place = try parts.require("PIXELS, TOP,LEFT,BOTTOM,RIGHT or WxH", PartReader.anchored)
        return .pad(to: place.size, anchorX: place.x, anchorY: place.y, background: background)
    }
}
