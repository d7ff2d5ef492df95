import Foundation
import Halcyon
import TestSupport
import Testing

/// `load --process` with each of the processors: the results, and the messages for bad values and files.
@Suite(.timeLimit(.minutes(5))) struct LoadProcessorTests {
    private static let source = "png/rgb8.png"

    private func processed(_ tool: Tool, _ options: String...) async throws -> Bitmap {
        let result = try await tool.run(
            ["load", "--quiet", fixture(Self.source), "-o", "-", "--format", "png", "--cache", tool.path("cache")]
                + options.flatMap { ["--process", $0] })
        try #require(result.status == 0, "\(result.errors)")
        return try decoded(result.output)
    }

    @Test func processorsOfAllKindsWorkInTheirOrder() async throws {
        let tool = try Tool()
        let result = try await processed(
            tool, "rotate=90", "pad=4:#f00", "border=2:#00f", "blur=1", "colors=saturation=0.5", "blend=multiply:#fff")
        let processors: [any ImageProcessor] = [
            .rotate(degrees: 90), .pad(4, background: Color(red: 1, green: 0, blue: 0)),
            .border(width: 2, color: Color(red: 0, green: 0, blue: 1)), .blur(radius: 1),
            .colorControls(saturation: 0.5), .blend(.multiply, background: .white),
        ]
        let expected = try processors.process(
            Image(data: TestFiles.data(Self.source)), context: .uncancellable)
        #expect(result.size == PixelSize(40, 56))
        #expect(result.size == expected.size)
        for y in 0..<result.height {
            for x in 0..<result.width { #expect(result.bytes(x: x, y: y) == expected.bitmap.bytes(x: x, y: y)) }
        }
    }

    @Test func aWatermarkIsReadFromItsFile() async throws {
        let tool = try Tool()
        let red = try Bitmap(
            size: PixelSize(4, 2), isOpaque: true, pixels: (0..<8).flatMap { _ in [UInt8(0), 0, 255, 255] })
        try Image(bitmap: red, info: ImageInfo(format: .png, size: red.size)).data(as: .png)
            .write(to: tool.folder.appending(path: "a:1@2x.png"))
        let source = try decoded(try TestFiles.data(Self.source))
        let result = try await processed(tool, "watermark=\(tool.path("a:1@2x.png"))@0%,100%:margin=3")
        for y in 0..<source.height {
            for x in 0..<source.width {
                let isMark = (3..<7).contains(x) && (source.height - 5..<source.height - 3).contains(y)
                #expect(result.bytes(x: x, y: y) == (isMark ? [0, 0, 255, 255] : source.bytes(x: x, y: y)))
            }
        }
    }

    @Test(arguments: [
        ("/nowhere/at/all.png", "badSource"), (fixture("bad/text.txt"), "notAnImage"),
        (fixture("bad/truncated.png"), "damagedImage"), ("/", "badSource"),
    ])
    func aWatermarkThatCannotBeReadIsOneLine(file: String, code: String) async throws {
        let tool = try Tool()
        let result = try await tool.load(
            fixture(Self.source), "--process", "watermark=\(file)@50%,50%", "-o", tool.path("a.png"))
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        try #require(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errorLines[0].hasPrefix("halcyon: watermark \(file): "))
        #expect(result.errorLines[0].hasSuffix(" (\(code))"))
        #expect(!FileManager.default.fileExists(atPath: tool.path("a.png")))
    }

    @Test(arguments: [
        "resize=9223372036854775807x1", "crop=9223372036854775807x9223372036854775807@1,1",
        "crop=1x1@9223372036854775807,-9223372036854775808", "crop=5x5@nan%,0%", "crop=5x5@inf%,-inf%",
        "crop=5x5@1e308%,-1e308%", "rotate=nan", "rotate=inf", "rotate=1e308", "rotate=-1e-320",
        "rotate=-90:keep:#123", "pad=-1", "pad=9223372036854775807", "pad=65535", "pad=60000x1:#fff",
        "pad=9223372036854775807x1", "pad=50x50@nan%,0%", "round=1e308", "round=nan%", "round=-5%h", "round=0",
        "round=1e308:border=1e308,#f00", "round=5:size=70000x70000", "round=5:border=nan", "circle=1e308", "circle=-1",
        "circle=nan", "border=1e308:1e308", "border=inf", "border=0", "blur=nan", "blur=1000", "blur=1001", "blur=-0",
        "blur=1e-320", "sharpen=100:1000", "sharpen=nan:nan", "sharpen=1:1e-320", "pixelate=0", "pixelate=-8",
        "pixelate=9223372036854775807", "colors=exposure=1e308", "colors=contrast=-1e308:brightness=1e308",
        "colors=saturation=nan", "colors=exposure=-1e308", "sepia=2", "sepia=nan", "opacity=-1", "opacity=inf",
        "overlay=#fff:2", "overlay=#fff:nan", "tint=#0000:clear", "blend=hue:nan:#fff", "blend=luminosity:1:#fff",
        "matrix=nan,0,0,0,0,0,0,0,0,0,0,0", "matrix=1e38,1e38,1e38,1e38,-1e38,1e38,1e38,1e38,1e38,1e38,1e38,1e38",
    ])
    func oddValuesAreAnErrorOrAnImage(option: String) async throws {
        let result = try await Tool().load(fixture(Self.source), "--process", option)
        #expect([0, 1].contains(result.status), "\(result.errors)")
        let line = try result.load()
        #expect(line.ok == (result.status == 0))
        #expect(line.ok || line.error?.code == "processing")
    }

    @Test func usageSaysWhatAProcessorTakes() async throws {
        let bad = try await Tool().run(["load", "a.png", "--process", "blur=much"])
        #expect(bad.status == 64)
        #expect(bad.errors.contains("'much' is no RADIUS; blur takes blur=RADIUS"))
        let unknown = try await Tool().run(["load", "a.png", "--process", "vignette"])
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("no processor is called 'vignette'"))
    }
}
