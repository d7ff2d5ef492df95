import Foundation
import Halcyon
import TestSupport
import Testing

/// `halcyon probe`.
@Suite(.timeLimit(.minutes(5))) struct ToolProbeTests {
    private struct Line: Decodable {
        let source: String
        let ok: Bool
        let format: String?
        let width: Int?
        let height: Int?
        let frames: Int?
        let loops: Int?
        let alpha: Bool?
        let bitsPerChannel: Int?
        let orientation: Int?
        let colorSpace: String?
        let error: LoadLine.Failure?
    }

    private struct Golden: Decodable {
        let file: String
        let width: Int
        let height: Int
        let format: String
        let frames: Int
        let loops: Int?
        let alpha: Bool
        let orientation: Int
        let bitsPerChannel: Int
    }

    @Test func everyFixtureIsWhatTheIndexSays() async throws {
        let goldens = try JSONDecoder().decode([Golden].self, from: try TestFiles.data("golden/index.json"))
        let tool = try Tool()
        let result = try await tool.run(["probe", "--json"] + goldens.map { fixture($0.file) })
        #expect(result.status == 0, "\(result.errors)")
        let lines = try result.objects(Line.self)
        try #require(lines.count == goldens.count)
        for (line, golden) in zip(lines, goldens) {
            #expect(line.source == fixture(golden.file))
            #expect(line.ok && line.error == nil)
            #expect(line.format == golden.format, "\(golden.file)")
            #expect(line.width == golden.width && line.height == golden.height, "\(golden.file)")
            #expect(line.frames == golden.frames, "\(golden.file)")
            #expect(line.loops == golden.loops, "\(golden.file)")
            #expect(line.alpha == golden.alpha, "\(golden.file)")
            #expect(line.bitsPerChannel == golden.bitsPerChannel, "\(golden.file)")
            #expect(line.orientation == golden.orientation, "\(golden.file)")
            #expect(line.colorSpace?.isEmpty == false, "\(golden.file)")
        }
    }

    @Test(arguments: [
        ("png/rgb8.png", "sRGB"), ("png/gray16.png", "gray"), ("jpeg/gray.jpg", "gray"), ("jpeg/cmyk.jpg", "cmyk"),
        ("webp/lossy.webp", "sRGB"), ("gif/still.gif", "sRGB"),
    ])
    func colourSpacesHaveNames(file: String, name: String) async throws {
        let result = try await Tool().run(["probe", "--json", fixture(file)])
        #expect(try result.objects(Line.self).map(\.colorSpace) == [name])
    }

    @Test func eachLineIsAnObjectWithTheSameKeys() async throws {
        let tool = try Tool()
        let result = try await tool.run(["probe", "--json", fixture("png/rgb8.png"), tool.path("missing.png")])
        let keys: Set = [
            "source", "ok", "format", "width", "height", "frames", "loops", "alpha", "bitsPerChannel", "orientation",
            "colorSpace", "gainMap", "error",
        ]
        #expect(try result.keys() == [keys, keys])
    }

    @Test func aFailingSourceStopsNothing() async throws {
        let tool = try Tool()
        let sources = [fixture("bad/page.html"), tool.path("missing.png"), fixture("png/1x1.png")]
        let result = try await tool.run(["probe", "--json"] + sources)
        #expect(result.status == 1)
        let lines = try result.objects(Line.self)
        #expect(lines.map(\.source) == sources)
        #expect(lines.map(\.ok) == [false, false, true])
        #expect(lines.map(\.error?.code) == ["notAnImage", "badSource", nil])
        try #require(result.errorLines.count == 2)
        #expect(result.errorLines[1].hasPrefix("halcyon: \(sources[1]): "))
    }

    @Test(
        arguments: [
            ("bad/bomb-60000x60000.png", PixelSize(60_000, 60_000)), ("bad/truncated.jpg", nil),
            ("bad/truncated.png", nil),
        ] as [(String, PixelSize?)])
    func aHeaderIsReadWithoutThePixels(file: String, size: PixelSize?) async throws {
        let result = try await Tool().run(["probe", "--json", fixture(file)])
        #expect(result.status == 0, "\(result.errors)")
        let line = try #require(try result.objects(Line.self).first)
        #expect(line.ok)
        if let size { #expect(line.width == size.width && line.height == size.height) }
    }

    @Test func everyKindOfSourceIsProbed() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("webp/animated.webp")
        let png = try TestFiles.data("png/1x1.png").base64EncodedString()
        let list = "# list\n\(server.url("/webp/animated.webp").absoluteString)\ndata:image/png;base64,\(png)\n"
        let result = try await tool.run(["probe", "--json", "-"], input: list)
        #expect(try result.objects(Line.self).map(\.frames) == [3, 1])
        await server.stop()
    }

    @Test func peopleGetALine() async throws {
        let result = try await Tool().run(["probe", fixture("gif/animated-loop3.gif")])
        #expect(result.lines.count == 1)
        for word in ["gif", "48x32", "8 bit", "alpha", "4 frames", "plays 3x"] { #expect(result.text.contains(word)) }
    }

    @Test(arguments: [[], ["-"], ["--nothing"]])
    func wrongUsageIs64(arguments: [String]) async throws {
        #expect(try await Tool().run(["probe"] + arguments).status == 64)
    }
}
