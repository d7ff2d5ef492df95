import Foundation
import Halcyon
import TestSupport
import Testing

/// `halcyon show` whose output is no terminal.
@Suite(.timeLimit(.minutes(5))) struct ShowTests {
    /// A blue picture of 6x4 pixels as a `data:` URL.
    private static func blue() throws -> String {
        let image = ShowFixture.image(try ShowFixture.uniform(6, 4, [255, 0, 0, 255]))
        return "data:image/png;base64," + (try CoderRegistry.shared.encode(image, as: .png)).base64EncodedString()
    }

    @Test func halfBlocksAreTheDefault() async throws {
        let result = try await Tool().show([fixture("png/rgb8.png")])
        #expect(result.status == 0 && result.errors.isEmpty)
        let bitmap = try decoded(TestFiles.data("png/rgb8.png"))
        let screen = ScreenModel(result.output, columns: 200, rows: 200)
        // Nobody was asked anything, and no frame drawn: the text is as good in a file.
        #expect(screen.unexpected.isEmpty && screen.texts.isEmpty && !result.output.contains(0x0D))
        // Within 80 columns and 23 rows.
        let size = ScreenModel.fitted(bitmap.size, PixelSize(80, 46))
        #expect(screen.row == (size.height + 1) / 2)
        #expect(screen.pixel(x: size.width - 1, y: 0) != nil && screen.pixel(x: size.width, y: 0) == nil)
    }

    @Test func eachProtocolCanBeChosen() async throws {
        let tool = try Tool()
        let bitmap = try decoded(TestFiles.data("png/rgb8.png"))
        func screen(_ way: String) async throws -> ScreenModel {
            let result = try await tool.show(["--protocol", way, fixture("png/rgb8.png")])
            #expect(result.status == 0, "\(result.errors)")
            let screen = ScreenModel(result.output)
            #expect(screen.unexpected.isEmpty)
            return screen
        }
        let kitty = try #require(try KittyPicture.all(on: try await screen("kitty")).first)
        let iterm = try #require(try ITermPicture.all(on: try await screen("iterm2")).first)
        let sixel = try #require(try SixelPicture.all(on: try await screen("sixel")).first)
        // 80 columns of 10 pixels, 23 rows of 20, and never larger than it is.
        let size = ScreenModel.fitted(bitmap.size, PixelSize(800, 460))
        for file in [kitty.file, iterm.file] { #expect(try decoded(file).size == size) }
        #expect(sixel.size == size)
        if size == bitmap.size {
            #expect(try decoded(kitty.file).bytes(x: 3, y: 2) == bitmap.bytes(x: 3, y: 2))
        }
    }

    @Test func sizesAreTheUsers() async throws {
        let tool = try Tool()
        func size(_ options: String...) async throws -> PixelSize {
            let result = try await tool.show(["--protocol", "sixel", Self.blue()] + options)
            return try #require(try SixelPicture.all(on: ScreenModel(result.output)).first, "\(result.errors)").size
        }
        #expect(try await size() == PixelSize(6, 4))
        #expect(try await size("--fit", "--width", "3") == PixelSize(30, 20))
        #expect(try await size("--fit", "--height", "2") == PixelSize(60, 40))
        #expect(try await size("--resize", "3x3") == PixelSize(3, 2))
        #expect(try await size("--process", "crop=2x4@0,0") == PixelSize(2, 4))
    }

    @Test func aBackgroundLiesBelow() async throws {
        let result = try await Tool().show(
            ["--background", "#f00", "--process", "opacity=0", "--protocol", "blocks", Self.blue()])
        let screen = ScreenModel(result.output)
        #expect(screen.pixel(x: 0, y: 0) == 0xFF0000 && screen.pixel(x: 5, y: 3) == 0xFF0000)
    }

    @Test func sourcesAreThoseOfLoad() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let url = server.url("/png/rgb8.png").absoluteString
        let list = "# a list\n\(url)\n\n\(fixture("png/1x1.png"))\n"
        let result = try await tool.show(
            ["-", Self.blue(), "--header", "X-One: 1", "--protocol", "kitty"], input: list)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try KittyPicture.all(on: ScreenModel(result.output)).count == 3)
        #expect(server.requests.first?.headers["x-one"] == "1")
        // The second time from the disk.
        #expect(try await tool.show([url]).status == 0)
        #expect(server.requests.count == 1)
        await server.stop()
    }

    @Test func aGridHasCaptions() async throws {
        let files = ["png/rgb8.png", "png/1x1.png", "gif/still.gif"].map(fixture)
        let result = try await Tool().show(files + ["--columns", "2", "--height", "3"])
        #expect(result.status == 0)
        let text = result.text
        for name in ["rgb8.png", "1x1.png", "still.gif", "1x1 png"] { #expect(text.contains(name)) }
        let bare = try await Tool().show(files + ["--columns", "2", "--height", "3", "--no-captions"])
        #expect(!bare.text.contains("rgb8.png"))
    }

    @Test func failuresAreALineEachAndTheOthersAreShown() async throws {
        let names = [
            "/nowhere/\u{1B}]0;title\u{7}.png", fixture("png/1x1.png"), fixture("bad/page.html"), "/a\u{9B}2J\nb",
        ]
        let result = try await Tool().show(names + ["--protocol", "kitty", "--retries", "0"])
        #expect(result.status == 1)
        #expect(try KittyPicture.all(on: ScreenModel(result.output)).count == 1)
        try #require(result.errorLines.count == 3, "\(result.errors)")
        #expect(
            result.errorLines[1].hasPrefix("halcyon: \(names[2]): ") && result.errorLines[1].hasSuffix("(notAnImage)"))
        #expect(result.errorLines.allSatisfy { $0.hasPrefix("halcyon: ") })
        #expect(!result.errors.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
    }

    @Test func animationsAreStillInAFile() async throws {
        let tool = try Tool()
        for options in [[], ["--still"]] {
            let result = try await tool.show([fixture("gif/animated.gif"), "--protocol", "kitty"] + options)
            #expect(try KittyPicture.all(on: ScreenModel(result.output)).count == 1)
        }
        let still = try await tool.show([fixture("gif/animated.gif"), "--protocol", "iterm2", "--still"])
        let picture = try #require(try ITermPicture.all(on: ScreenModel(still.output)).first)
        #expect(FormatSniffer.format(of: picture.file) == .png)
    }

    @Test func loopsAreDrawnWhereTheyAreAskedFor() async throws {
        let tool = try Tool()
        try ShowFixture.gif(frames: 3, loops: 0).write(to: tool.folder.appending(path: "a.gif"))
        let result = try await tool.show([tool.path("a.gif"), "--protocol", "kitty", "--loops", "2"])
        #expect(result.status == 0, "\(result.errors)")
        let screen = ScreenModel(result.output)
        let pictures = try KittyPicture.all(on: screen)
        // The first picture and the frames of two loops; late ones are skipped.
        #expect((2...7).contains(pictures.count))
        #expect(Set(pictures.compactMap { $0.keys["i"] }).count == 1)
        #expect(pictures.allSatisfy { $0.row == 0 } && screen.unexpected.isEmpty && !screen.isCursorHidden)
        #expect(try pictures.last.map { try decoded($0.file).bytes(x: 0, y: 0) } == [100, 100, 100, 255])
    }

    @Test func tmuxHandsPicturesOn() async throws {
        let result = try await Tool().show(
            [fixture("png/rgb8.png"), "--protocol", "kitty"], environment: ["TMUX": "/tmp/tmux-0/default,1,0"])
        let screen = ScreenModel(result.output)
        #expect(screen.unexpected.isEmpty && !screen.texts.isEmpty && screen.texts.allSatisfy(\.wasWrapped))
        #expect(try KittyPicture.all(on: screen).count == 1)
    }

    @Test(arguments: [
        [], ["-", "-"], ["-"], ["a.png", "--protocol", "jpeg"], ["a.png", "--width", "0"],
        ["a.png", "--height", "1001"],
        ["a.png", "--columns", "0"], ["a.png", "--loops=-1"], ["a.png", "--still", "--loops", "1"],
        ["a.png", "--background", "red"], ["a.png", "--background", "#f008"], ["a.png", "--concurrency", "0"],
        ["a.png", "--process", "blur"],
        ["a.png", "--retries", "101"], ["a.png", "-o", "b.png"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let result = try await Tool().show(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty && !result.errors.isEmpty)
    }
}

/// The size of a picture in a box, computed apart from the tool.
extension ScreenModel {
    static func fitted(_ size: PixelSize, _ box: PixelSize) -> PixelSize {
        let scale = min(1, min(Double(box.width) / Double(size.width), Double(box.height) / Double(size.height)))
        func side(_ value: Int) -> Int { max(1, Int((Double(value) * scale).rounded())) }
        return PixelSize(side(size.width), side(size.height))
    }
}
