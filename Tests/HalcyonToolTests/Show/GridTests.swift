import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonTool

/// The places of pictures and captions, and animations in their places.
@Suite(.timeLimit(.minutes(5))) struct GridTests {
    private static let screen = TerminalSize(columns: 80, rows: 24, cell: PixelSize(10, 20))

    private func layout(
        _ count: Int, across: Int? = nil, width: Int? = nil, height: Int? = nil, isTerminal: Bool = true,
        captions: Bool = true, screen: TerminalSize = Self.screen
    ) -> GridLayout {
        GridLayout(
            count: count, across: across, width: width, height: height, screen: screen, isTerminal: isTerminal,
            showsCaptions: captions)
    }

    // MARK: Layout

    @Test func onePictureHasTheScreen() {
        let layout = layout(1)
        #expect(layout.across == 1 && layout.tileColumns == 80 && layout.captionRows == 0 && layout.tileRows == 23)
        #expect(layout.box(.kitty, cell: Self.screen.cell, sixelLimit: nil) == PixelSize(800, 460))
        #expect(layout.box(.blocks, cell: Self.screen.cell, sixelLimit: nil) == PixelSize(80, 46))
    }

    @Test func severalPicturesShareTheWidth() {
        let layout = layout(10)
        // Three tiles of 25 columns and two gaps.
        #expect(layout.across == 3 && layout.tileColumns == 25 && layout.captionRows == 2)
        #expect(layout.tileRows == 12)
        #expect((0..<3).map(layout.column) == [0, 27, 54])
        #expect(self.layout(2).across == 2)
        #expect(self.layout(10, captions: false).captionRows == 0)
    }

    @Test func columnsAreTheUsers() {
        #expect(layout(10, across: 5).across == 5)
        #expect(layout(10, across: 5).tileColumns == 14)
        #expect(layout(3, across: 5).across == 3)
        // No tile without a width, and none beyond the edge.
        let many = layout(1000, across: 1000)
        #expect(many.tileColumns == 1 && many.column(of: many.across - 1) < 80)
        #expect(layout(1, width: 30).tileColumns == 30)
        #expect(layout(1, width: 300).tileColumns == 80)
        #expect(layout(1, width: 300, isTerminal: false).tileColumns == 300)
    }

    @Test func theHeightIsTheUsersWithinTheScreen() {
        #expect(layout(1, height: 5).tileRows == 5)
        #expect(layout(1, height: 100).tileRows == 23)
        #expect(layout(4, height: 100).tileRows == 21)
        #expect(layout(1, height: 100, isTerminal: false).tileRows == 100)
    }

    @Test func boxesAreBounded() {
        let screen = TerminalSize(columns: 1000, rows: 1000, cell: PixelSize(256, 256))
        let layout = layout(1, screen: screen)
        #expect(layout.box(.kitty, cell: screen.cell, sixelLimit: nil) == PixelSize(4096, 4096))
        #expect(layout.box(.sixel, cell: screen.cell, sixelLimit: PixelSize(1000, 900)) == PixelSize(1000, 900))
        #expect(layout.box(.kitty, cell: screen.cell, sixelLimit: PixelSize(1000, 900)) == PixelSize(4096, 4096))
        #expect(self.layout(1, screen: TerminalSize(columns: 1, rows: 1)).tileRows == 1)
    }

    @Test func rowsAreRoundedUp() {
        let cell = PixelSize(10, 20)
        #expect([1, 20, 21].map { GridLayout.rows(of: PixelSize(5, $0), .kitty, cell: cell) } == [1, 1, 2])
        #expect([1, 2, 3].map { GridLayout.rows(of: PixelSize(5, $0), .blocks, cell: cell) } == [1, 1, 2])
    }

    // MARK: Captions

    @Test func captionsObeyNobody() throws {
        let image = ShowFixture.image(try ShowFixture.uniform(1, 1, [0, 0, 0, 255]))
        let names = [
            "a\u{1B}[2Jb", "a\nb", "a\r\nb", "a\u{7F}b", "a\u{9B}31mb", "a\u{202E}b", "a\u{2028}b", "\u{1B}]0;t\u{7}",
            "a\tb", "a\u{0}b",
        ]
        for name in names {
            let text = ShowTile(image, name: name).caption[0]
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(!text.unicodeScalars.contains("\u{202E}") && !text.unicodeScalars.contains("\u{2028}"))
        }
        #expect(TerminalText.clean("a\r\nb\nc\rd") == "a b c d")
        #expect(TerminalText.clean("\u{1B}[1mé👩‍👩‍👧") == "\u{FFFD}[1mé👩‍👩‍👧")
    }

    @Test func captionsNameTheLastPart() throws {
        let image = ShowFixture.image(try ShowFixture.uniform(3, 2, [0, 0, 0, 255]))
        func name(_ source: String) -> String { ShowTile(image, name: source).caption[0] }
        #expect(name("/tmp/a b.png") == "a b.png" && name("https://example.org/x/y.jpg?token=1#top") == "y.jpg")
        #expect(name("a?b.png") == "a?b.png" && name("data:image/png;base64,AAAA") == "data:image/png")
        #expect(name("/") == "/")
        #expect(ShowTile(image, name: "a").caption[1] == "3x2 png")
        let moving = try ShowFixture.animation(frames: 2, loops: 1, duration: .seconds(1))
        #expect(ShowTile(moving, name: "a").caption[1] == "4x4 gif, animated")
    }

    @Test func textsAreCutToColumns() {
        #expect(TerminalText.cut("abcdef", to: 6) == "abcdef" && TerminalText.cut("abcdefg", to: 6) == "abcde…")
        #expect(TerminalText.cut("日本語", to: 6) == "日本語" && TerminalText.cut("日本語", to: 5) == "日本…")
        #expect(TerminalText.width("e\u{301}👍日") == 5 && TerminalText.cut("ab", to: 0) == "")
        let stack = "a" + String(repeating: "\u{301}", count: 10_000)
        #expect(TerminalText.cut(stack + "bcd", to: 2).utf8.count < 100)
    }

    // MARK: Painting

    private func painter(
        _ layout: GridLayout, _ way: DrawingProtocol, _ output: RecordedScreen, screen: TerminalSize = Self.screen
    ) -> GridPainter {
        GridPainter(
            layout: layout, encoder: ShowFixture.encoder(way), screen: screen, output: output, firstID: 100)
    }

    private func tile(_ width: Int, _ height: Int, _ name: String, grey: UInt8 = 200) throws -> ShowTile {
        ShowTile(ShowFixture.image(try ShowFixture.uniform(width, height, [grey, grey, grey, 255])), name: name)
    }

    @Test func picturesStandBesideEachOther() async throws {
        let output = RecordedScreen()
        var painter = painter(layout(4, across: 2), .kitty, output)
        try await painter.draw([tile(100, 30, "one.png"), tile(90, 70, "two.png")])
        try await painter.draw([tile(10, 10, "three.png"), tile(20, 20, String(repeating: "n", count: 100))])
        let screen = ScreenModel(output.bytes)
        #expect(screen.unexpected.isEmpty)
        let pictures = try KittyPicture.all(on: screen)
        #expect(pictures.map(\.row) == [0, 0, 6, 6] && pictures.map(\.column) == [0, 41, 0, 41])
        #expect(Set(pictures.compactMap { $0.keys["i"] }) == ["100", "101", "102", "103"])
        // The taller picture has four rows, and two lines of text follow.
        #expect(screen.line(4) == "one.png".padding(toLength: 41, withPad: " ", startingAt: 0) + "two.png")
        #expect(screen.line(5).hasPrefix("100x30 png") && screen.line(5).hasSuffix("90x70 png"))
        #expect(screen.line(7).hasSuffix(String(repeating: "n", count: 38) + "…"))
        #expect((screen.row, screen.column) == (9, 0) && painter.line == 9)
    }

    @Test func textStandsBesideEachOther() async throws {
        let output = RecordedScreen()
        var painter = painter(layout(2, across: 2), .blocks, output)
        try await painter.draw([tile(3, 2, "one.png", grey: 10), tile(5, 6, "two.png", grey: 20)])
        let screen = ScreenModel(output.bytes)
        #expect(screen.unexpected.isEmpty && screen.top == 0)
        #expect(screen.pixel(x: 2, y: 1) == 0x0A0A0A && screen.pixel(x: 3, y: 1) == nil)
        #expect(screen.pixel(x: 0, y: 2) == nil)
        #expect(screen.pixel(x: 41, y: 0) == 0x141414 && screen.pixel(x: 45, y: 5) == 0x141414)
        #expect(screen.line(3).hasPrefix("one.png") && screen.line(3).hasSuffix("two.png"))
        #expect(screen.row == 5 && painter.line == 5)
    }

    /// The last line of the screen: pictures scroll it first, and stand where they belong.
    @Test(arguments: DrawingProtocol.allCases)
    func atTheBottomTheScreenScrollsFirst(way: DrawingProtocol) async throws {
        let output = RecordedScreen()
        let size = TerminalSize(columns: 80, rows: 10, cell: PixelSize(10, 20))
        var painter = painter(layout(1, screen: size), way, output, screen: size)
        var screen = ScreenModel(columns: 80, rows: 10)
        screen.feed([UInt8](repeating: 0x0A, count: 9))
        try await painter.draw([tile(8, way == .blocks ? 8 : 80, "a")])
        screen.feed(output.bytes)
        #expect(screen.unexpected.isEmpty && screen.row == 13 && screen.top == 4)
        if way == .blocks {
            #expect(screen.pixel(x: 0, y: 18) == 0xC8C8C8 && screen.pixel(x: 0, y: 25) == 0xC8C8C8)
        } else {
            #expect(screen.texts.allSatisfy { $0.row == 9 && $0.column == 0 })
        }
    }

    @Test func animationsOutOfReachDoNotPlay() async throws {
        let size = TerminalSize(columns: 80, rows: 10, cell: PixelSize(10, 20))
        var painter = painter(layout(1, screen: size), .blocks, RecordedScreen(), screen: size)
        let moving = ShowTile(try ShowFixture.animation(frames: 2, loops: 1, duration: .seconds(1)), name: "a")
        for _ in 0..<4 { try await painter.draw([moving]) }
        #expect(painter.moving.map(\.top) == [0, 2, 4, 6])
        painter.skip(lines: 1)
        #expect(painter.moving.map(\.top) == [0, 2, 4, 6])
        painter.skip(lines: 1)
        #expect(painter.moving.map(\.top) == [2, 4, 6])
    }

    @Test func aFileThatTheTerminalPlaysIsSentAsItIs() async throws {
        let output = RecordedScreen()
        var painter = painter(layout(1), .iterm2, output)
        let file = try TestFiles.data("gif/animated.gif")
        let image = try ShowFixture.animation(frames: 2, loops: 0, duration: .seconds(1))
        try await painter.draw([ShowTile(image, name: "a.gif", file: file)])
        let picture = try #require(try ITermPicture.all(on: ScreenModel(output.bytes)).first)
        #expect(picture.file == file && picture.keys["width"] == "4px")
        #expect(painter.moving.isEmpty)
    }

    // MARK: Playing

    private static let unit = Duration.milliseconds(125)

    /// Plays animations below each other by a clock, and returns the screen after each step of it.
    private func play(
        _ images: [Image], _ way: DrawingProtocol, loops: Int? = nil, steps: Int
    ) async throws -> (screens: [ScreenModel], writes: [[UInt8]]) {
        let (output, clock) = (RecordedScreen(), ManualClock())
        var painter = painter(layout(1), way, output)
        for image in images { try await painter.draw([ShowTile(image, name: "a")]) }
        let (moving, line, still) = (painter.moving, painter.line, output.writes.count)
        let player = ScreenPlayer(
            encoder: ShowFixture.encoder(way), output: output, loops: loops, time: clock.timeSource,
            pool: FramePool(memoryPressure: nil))
        let playing = Task { try await player.play(moving, line: line) }
        var screens: [ScreenModel] = []
        for _ in 0..<steps {
            try await clock.waitForSleepers(images.count)
            screens.append(ScreenModel(output.bytes))
            clock.advance(by: Self.unit)
        }
        try await playing.value
        screens.append(ScreenModel(output.bytes))
        return (screens, Array(output.writes.dropFirst(still)))
    }

    @Test func framesAreDrawnInPlace() async throws {
        let image = try ShowFixture.animation(frames: 3, loops: 2, duration: Self.unit)
        let (screens, writes) = try await play([image], .blocks, steps: 6)
        #expect(screens.dropLast().map { $0.pixel(x: 3, y: 3) } == [0, 0x323232, 0x646464, 0, 0x323232, 0x646464])
        for screen in screens {
            #expect(screen.unexpected.isEmpty && screen.row == 2 && screen.column == 0)
            #expect(screen.pixel(x: 0, y: 4) == nil && screen.pixel(x: 4, y: 0) == nil)
        }
        #expect(writes.count == 6)
    }

    @Test(arguments: [1, 2])
    func loopsAreTheUsers(loops: Int) async throws {
        let image = try ShowFixture.animation(frames: 2, loops: 0, duration: Self.unit)
        let (_, writes) = try await play([image], .blocks, loops: loops, steps: 2 * loops)
        #expect(writes.count == 2 * loops)
    }

    @Test func kittyReplacesItsPicture() async throws {
        let image = try ShowFixture.animation(frames: 2, loops: 1, duration: Self.unit, size: PixelSize(30, 50))
        let (screens, _) = try await play([image], .kitty, steps: 2)
        let last = try #require(screens.last)
        let pictures = try KittyPicture.all(on: last)
        #expect(pictures.count == 3 && Set(pictures.compactMap { $0.keys["i"] }) == ["100"])
        #expect(pictures.allSatisfy { $0.row == 0 && $0.column == 0 } && last.row == 3)
        #expect(try pictures.map { try decoded($0.file).bytes(x: 0, y: 0)?[0] } == [0, 0, 50])
    }

    @Test(arguments: [DrawingProtocol.sixel, .iterm2])
    func framesOfPicturesKeepTheirPlace(way: DrawingProtocol) async throws {
        let image = try ShowFixture.animation(frames: 2, loops: 1, duration: Self.unit, size: PixelSize(30, 50))
        let last = try #require(try await play([image], way, steps: 2).screens.last)
        #expect(last.texts.count == 3 && last.texts.allSatisfy { $0.row == 0 && $0.column == 0 })
        #expect(last.row == 3 && last.unexpected.isEmpty)
    }

    @Test func severalPlayAtATime() async throws {
        let images = try (0..<2).map { _ in try ShowFixture.animation(frames: 3, loops: 1, duration: Self.unit) }
        let (screens, writes) = try await play(images, .blocks, steps: 3)
        #expect(screens.dropLast().map { $0.pixel(x: 0, y: 0) } == [0, 0x323232, 0x646464])
        #expect(screens.dropLast().map { $0.pixel(x: 0, y: 4) } == [0, 0x323232, 0x646464])
        #expect(writes.count == 6)
    }

    @Test func aCancelledPlayerEnds() async throws {
        let clock = ManualClock()
        let image = try ShowFixture.animation(frames: 2, loops: 0, duration: Self.unit)
        let player = ScreenPlayer(
            encoder: ShowFixture.encoder(.blocks), output: RecordedScreen(), loops: nil, time: clock.timeSource,
            pool: FramePool(memoryPressure: nil))
        let placed = PlacedTile(tile: ShowTile(image, name: "a"), id: 1, column: 0, top: 0)
        let playing = Task { try await player.play([placed], line: 2) }
        try await clock.waitForSleepers()
        playing.cancel()
        await #expect(throws: CancellationError.self) { try await playing.value }
    }
}
