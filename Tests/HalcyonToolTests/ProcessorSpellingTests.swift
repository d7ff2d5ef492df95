import HalcyonProcessing
import ArgumentParser
import Halcyon
import Testing

@testable import HalcyonTool

/// Each spelling of `--process` gives the processor that it names, and others are refused.
@Suite struct ProcessorSpellingTests {
    private static let red = Color(red: 1, green: 0, blue: 0)
    private static let glass = Color(red: 1, green: 1, blue: 1, alpha: 0.4)

    private static let geometry: [(String, any ImageProcessor)] = [
        ("resize=120x80", .resize(to: PixelSize(120, 80))),
        ("resize=120x80:fit", .resize(to: PixelSize(120, 80), mode: .fit)),
        ("resize=120x80:stretch:upscale", .resize(to: PixelSize(120, 80), mode: .stretch, upscale: true)),
        ("resize=120x80:nearest", .resize(to: PixelSize(120, 80), filter: .nearest)),
        ("resize=120x", .resize(width: 120)),
        ("resize=120x80:fill:sharpen=0.5", .resize(to: PixelSize(120, 80), mode: .fill, sharpening: 0.5)),
        ("resize=sharpen=1:x80", .resize(height: 80, sharpening: 1)),
        ("resize=upscale:120x:area", .resize(width: 120, upscale: true, filter: .area)),
        ("resize=120x80:linear", .resize(to: PixelSize(120, 80), light: .linear)),
        (
            "resize=linear:120x80:area:fill:upscale",
            .resize(to: PixelSize(120, 80), mode: .fill, upscale: true, filter: .area, light: .linear)
        ),
        ("resize=120x:linear", .resize(width: 120, light: .linear)),
        ("resize=x80:linear:bilinear", .resize(height: 80, filter: .bilinear, light: .linear)),
        ("resize=x80", .resize(height: 80)),
        ("resize=x80:nearest:upscale", .resize(height: 80, upscale: true, filter: .nearest)),
        (
            "resize=upscale:area:fill:1x2",
            .resize(to: PixelSize(1, 2), mode: .fill, upscale: true, filter: .area)
        ),
        ("crop=100x80", .crop(to: PixelSize(100, 80))),
        ("crop=100x80@smart", .smartCrop(to: PixelSize(100, 80))),
        ("crop=16x9@smart-ratio", .smartCrop(ratio: PixelSize(16, 9))),
        ("crop=100x80@20,30", .crop(PixelRect(x: 20, y: 30, width: 100, height: 80))),
        ("crop=100x80@-20,+3", .crop(PixelRect(x: -20, y: 3, width: 100, height: 80))),
        ("crop=100x80@0%,75%", .crop(to: PixelSize(100, 80), anchorX: 0, anchorY: 0.75)),
        ("flip=horizontal", .flip(.horizontal)), ("flip=vertical", .flip(.vertical)),
        ("rotate=90", .rotate(degrees: 90)), ("rotate=-12.5", .rotate(degrees: -12.5)),
        ("rotate=30:keep", .rotate(degrees: 30, fitsSize: false)),
        ("rotate=30:fit:#fff", .rotate(degrees: 30, background: .white)),
        ("pad=10", .pad(10)), ("pad=10:#fff", .pad(10, background: .white)),
        ("pad=1,2,3,4", PadProcessor(.insets(top: 1, left: 2, bottom: 3, right: 4))),
        ("pad=200x100:#fff", .pad(to: PixelSize(200, 100), background: .white)),
        ("pad=200x100@0%,100%", .pad(to: PixelSize(200, 100), anchorX: 0, anchorY: 1)),
    ]

    private static let shape: [(String, any ImageProcessor)] = [
        ("round=20", .roundCorners(radius: 20)), ("round=10%", .roundCorners(.widthFraction(0.1))),
        ("round=25%h", .roundCorners(.heightFraction(0.25))),
        ("round=20:corners=tl,br", .roundCorners(radius: 20, corners: [.topLeft, .bottomRight])),
        (
            "round=20:border=3,#f00:background=#fff:size=64x48",
            .roundCorners(
                .pixels(20), background: .white, border: ImageBorder(width: 3, color: red),
                targetSize: PixelSize(64, 48))
        ),
        ("round=20:border=3", .roundCorners(.pixels(20), border: ImageBorder(width: 3))),
        ("circle", .circle()), ("circle=3", .circle(border: ImageBorder(width: 3))),
        ("circle=3:#f00", .circle(border: ImageBorder(width: 3, color: red))),
        ("circle=#f00", .circle(border: ImageBorder(color: red))),
        ("circle=background=#fff", .circle(background: .white)),
        ("border", .border()), ("border=4", .border()), ("border=2:#f00", .border(width: 2, color: red)),
        ("border=2:#000:8", .border(width: 2, radius: .pixels(8))),
        (
            "border=2:50%:corners=tr,bl",
            .border(width: 2, radius: .widthFraction(0.5), corners: [.topRight, .bottomLeft])
        ),
    ]

    private static let pixels: [(String, any ImageProcessor)] = [
        ("blur=5", .blur(radius: 5)), ("sharpen", .sharpen()), ("sharpen=0.7", .sharpen(amount: 0.7)),
        ("sharpen=0.7:2", .sharpen(amount: 0.7, radius: 2)), ("pixelate=8", .pixelate(side: 8)),
        ("colors=brightness=0.1:contrast=1.2", .colorControls(brightness: 0.1, contrast: 1.2)),
        ("colors=exposure=-1:saturation=0", .colorControls(saturation: 0, exposure: -1)),
        ("blackwhite", .blackWhite), ("sepia", .sepia()), ("sepia=0.5", .sepia(intensity: 0.5)), ("invert", .invert),
        ("opacity=0.5", .opacity(0.5)), ("overlay=#f00", .overlay(red)),
        ("overlay=#ff0000:0.25", .overlay(red, fraction: 0.25)),
        ("overlay=#fff6", .overlay(glass)), ("tint=#f00", .tint(red)),
        ("tint=#f00:source-atop", .tint(red)), ("tint=#ff0000ff:multiply", .tint(red, mode: .multiply)),
        ("blend=multiply", .blend(.multiply)),
        ("blend=color-burn:0.5:#fff", .blend(.colorBurn, alpha: 0.5, background: .white)),
        ("blend=#fff", .blend(background: .white)),
        (
            "matrix=1,2,3,4,5,6,7,8,9,10,11,12",
            .colorMatrix(
                ColorMatrix(
                    red: .init(1, 2, 3, bias: 4), green: .init(5, 6, 7, bias: 8), blue: .init(9, 10, 11, bias: 12)))
        ),
        (
            "matrix=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0,0,0,.5,-1",
            .colorMatrix(
                ColorMatrix(
                    red: .init(1, 2, 3, 4, bias: 5), green: .init(6, 7, 8, 9, bias: 10),
                    blue: .init(11, 12, 13, 14, bias: 15), alpha: .init(0, 0, 0, 0.5, bias: -1)))
        ),
    ]

    private static let all = geometry + shape + pixels

    private func read(_ text: String, logo: Image? = nil) throws -> any ImageProcessor {
        try ProcessorTable.processor(text) { _ in try logo ?? ProcessorCalls.logo() }
    }

    @Test(arguments: all.indices) func spellingsMakeTheirProcessors(index: Int) throws {
        let (text, processor) = Self.all[index]
        #expect(processor.isEqual(to: try read(text)), "\(text)")
    }

    @Test func everyBlendModeHasASpelling() throws {
        for mode in BlendMode.allCases {
            #expect(TintProcessor(Self.red, mode: mode).isEqual(to: try read("tint=#f00:\(PartReader.spelling(mode))")))
        }
        #expect(PartReader.spelling(.destinationAtop) == "destination-atop")
    }

    @Test(arguments: ["logo.png", "a:b@2x.png", "a b=c.png", "@50%,50%.png"])
    func aWatermarkNamesItsFile(name: String) throws {
        let logo = try ProcessorCalls.logo()
        for (suffix, expected) in [
            ("", WatermarkProcessor(logo)), (":0.5", WatermarkProcessor(logo, opacity: 0.5)),
            ("@0%,50%", WatermarkProcessor(logo, anchorX: 0, anchorY: 0.5)),
            (
                "@0%,50%:0.5:margin=3:width=25%",
                WatermarkProcessor(logo, anchorX: 0, anchorY: 0.5, margin: 3, widthFraction: 0.25, opacity: 0.5)
            ),
        ] {
            let processor = try ProcessorTable.processor("watermark=\(name)\(suffix)") { path in
                #expect(path == name)
                return logo
            }
            #expect(expected.isEqual(to: processor), "\(suffix)")
        }
    }

    @Test func theExamplesAreTheCallsBesideThem() throws {
        let logo = try ProcessorCalls.logo()
        let (examples, source) = (ProcessorCalls.examples(logo: logo), try ProcessorCalls.source())
        #expect(examples.count == ProcessorTable.entries.count)
        for entry in ProcessorTable.entries {
            let processor = try #require(examples[entry.example], "\(entry.name)")
            #expect(processor.isEqual(to: try read(entry.example, logo: logo)), "\(entry.name)")
            #expect("\(type(of: processor))" == entry.type)
            let line = "\"\(entry.example)\": \(entry.call),".filter { !$0.isWhitespace }
            #expect(source.contains(line), "\(line)")
        }
    }

    @Test func aFormBeginsWithItsName() {
        #expect(Set(ProcessorTable.entries.map(\.name)).count == ProcessorTable.entries.count)
        for entry in ProcessorTable.entries {
            for form in entry.forms + [entry.brief, entry.example] {
                #expect(form.prefix { $0.isLetter } == entry.name)
            }
        }
    }

    @Test(arguments: [
        "resize", "resize=", "resize=fit", "resize=x", "resize=2x:fill", "resize=2x:x2", "resize=2x2:fit:fill",
        "resize=2x2:cubic", "resize=2x2:upscale:upscale",
        "crop=@smart", "crop=2x2@Smart", "crop=2x2@smart@smart", "crop=2x2@50%,1", "crop=2x2@1,2,3", "crop=2x2@1%,2%@3",
        "flip=Vertical", "flip=horizontal:vertical", "rotate",
        "rotate=north", "rotate=1:2", "rotate=1:keep:fit", "rotate=1:#12345", "rotate=1:white", "pad", "pad=1,2",
        "pad=1.5",
        "pad=2x2@1,2", "pad=1:#fff:#000", "round", "round=1:tl", "round=1:corners=", "round=1:corners=tl,xx",
        "round=1:border=", "round=1:border=1,red", "round=1:border=1,#fff,2", "round=1:background=fff",
        "round=1:size=4",
        "round=%", "circle=", "circle=1:2", "border=1:2:3", "border=red", "blur=", "blur=x", "blur=1:2", "blur=1:",
        "sharpen=1:2:3", "sharpen=", "pixelate=1.5", "colors", "colors=", "colors=1.2", "colors=hue=1",
        "colors=contrast=x", "colors=contrast=1:contrast=2", "blackwhite=1", "blackwhite=", "invert=1", "sepia=brown",
        "opacity", "opacity=50%", "overlay", "overlay=f00", "overlay=#ggg", "tint", "tint=red", "tint=#f00:sourceAtop",
        "tint=#f00:Multiply", "blend", "blend=", "blend=normal", "matrix", "matrix=1,2,3", "matrix=a,b",
        "matrix=1,2,3,4,5,6,7,8,9,10,11,", "watermark", "watermark=", "watermark=:0.5", "watermark=@1%,1%",
    ])
    func invalidProcessorArgumentErrorShowsUsage(text: String) throws {
        let name = String(text.prefix { $0 != "=" })
        let error = try #require(throws: ValidationError.self) { try read(text) }
        #expect(error.message.contains("; \(name) takes \(name)"))
    }

    @Test(arguments: ["", "=", "=5", "Blur=5", "blur ", "chain", "general", "sepia:1", "-", "é=1"])
    func aNameThatIsUnknownIsRefused(text: String) throws {
        let error = try #require(throws: ValidationError.self) { try read(text) }
        #expect(error.message.contains("halcyon processors"))
    }
}
