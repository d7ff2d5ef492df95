import Foundation
import Halcyon
import TestSupport
import Testing

/// The examples of the processors' documentation: spellings, and the calls that stand beside them.
enum ProcessorCalls {
    static func examples(logo: Image) -> [String: any ImageProcessor] {
        [
            "resize=80x80:fill": .resize(to: PixelSize(80, 80), mode: .fill),
            "crop=100x80@20,30": .crop(PixelRect(x: 20, y: 30, width: 100, height: 80)),
            "flip=horizontal": .flip(.horizontal),
            "rotate=20": .rotate(degrees: 20),
            "pad=14:#fc6": .pad(14, background: Color(red: 1, green: 0.8, blue: 0.4)),
            "round=30": .roundCorners(radius: 30),
            "circle=6:#fc6": .circle(border: ImageBorder(width: 6, color: Color(red: 1, green: 0.8, blue: 0.4))),
            "border=6:#c36:20": .border(width: 6, color: Color(red: 0.8, green: 0.2, blue: 0.4), radius: .pixels(20)),
            "blur=4": .blur(radius: 4),
            "sharpen=2:1.5": .sharpen(amount: 2, radius: 1.5),
            "pixelate=8": .pixelate(side: 8),
            "colors=contrast=1.2:saturation=1.8": .colorControls(contrast: 1.2, saturation: 1.8),
            "blackwhite": .blackWhite,
            "sepia": .sepia(),
            "invert": .invert,
            "opacity=0.4": .opacity(0.4),
            "overlay=#36c:0.4": .overlay(Color(red: 0.2, green: 0.4, blue: 0.8), fraction: 0.4),
            "tint=#c36:color": .tint(Color(red: 0.8, green: 0.2, blue: 0.4), mode: .color),
            "blend=multiply:0.9:#fc6": .blend(.multiply, alpha: 0.9, background: Color(red: 1, green: 0.8, blue: 0.4)),
            "matrix=0,0,1,0,0,1,0,0,1,0,0,0": .colorMatrix(
                ColorMatrix(red: .init(0, 0, 1), green: .init(0, 1, 0), blue: .init(1, 0, 0))),
            "watermark=logo.png@0%,0%:0.8:margin=8": .watermark(logo, anchorX: 0, anchorY: 0, margin: 8, opacity: 0.8),
        ]
    }

    /// This file without white space, to look for calls in.
    static func source() throws -> String {
        try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).filter { !$0.isWhitespace }
    }

    /// A watermark of 12x6 pixels.
    static func logo() throws -> Image {
        let size = PixelSize(12, 6)
        let bitmap = try Bitmap(size: size, isOpaque: true) { output in
            for index in output.indices { output[index] = index % 4 == 3 ? 255 : UInt8(index % 251) }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size))
    }
}
