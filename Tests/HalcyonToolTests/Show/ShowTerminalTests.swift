import Foundation
import Glibc
import Halcyon
import TestSupport
import Testing

/// `halcyon show` on a terminal that answers, or does not.
@Suite(.timeLimit(.minutes(5))) struct ShowTerminalTests {
    private static let kitty = "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;20;10t\u{1B}[?62;22c"

    private func screen(_ terminal: FakeTerminal, columns: Int = 80, rows: Int = 24) -> ScreenModel {
        let screen = ScreenModel(terminal.output, columns: columns, rows: rows)
        #expect(screen.unexpected.isEmpty)
        #expect(!screen.isCursorHidden)
        return screen
    }

    @Test func anAnswerChoosesTheProtocol() async throws {
        let answers = [
            ("kitty", Self.kitty), ("sixel", "\u{1B}[6;20;10t\u{1B}[?62;4;22c"), ("blocks", "\u{1B}[?62;22c"),
        ]
        for (way, answer) in answers {
            let terminal = try FakeTerminal(columns: 80, rows: 24, replies: [.answer(answer)])
            let before = terminal.settings
            let (status, errors) = try await Tool().show([fixture("png/rgb8.png")], on: terminal)
            #expect(status == 0 && errors.isEmpty, "\(errors)")
            #expect(terminal.settings == before)
            let screen = screen(terminal)
            #expect(try KittyPicture.all(on: screen).count == (way == "kitty" ? 1 : 0))
            #expect(try SixelPicture.all(on: screen).count == (way == "sixel" ? 1 : 0))
            // Answers are not echoed.
            #expect(!screen.line(0).contains("62"))
        }
    }

    @Test func theVariablesOfITermChooseIt() async throws {
        let terminal = try FakeTerminal(columns: 80, rows: 24, replies: [.answer("\u{1B}[?62c")])
        let (status, _) = try await Tool().show(
            [fixture("gif/animated.gif")], on: terminal, environment: ["TERM_PROGRAM": "iTerm.app"])
        #expect(status == 0)
        // The terminal plays the file itself.
        let picture = try #require(try ITermPicture.all(on: screen(terminal)).first)
        #expect(picture.file == (try TestFiles.data("gif/animated.gif")))
    }

    @Test func theSizeOfTheWindowCounts() async throws {
        let terminal = try FakeTerminal(columns: 10, rows: 5, cell: (8, 16), replies: [.answer("\u{1B}[?62;4c")])
        let (status, _) = try await Tool().show([fixture("png/rgb8.png"), "--fit"], on: terminal)
        #expect(status == 0)
        let picture = try #require(try SixelPicture.all(on: screen(terminal, columns: 10, rows: 5)).first)
        // 10 columns, and 4 rows beside that of the prompt.
        #expect(picture.size.width == 80 || picture.size.height == 64)
        #expect(picture.size.width <= 80 && picture.size.height <= 64)
    }

    @Test func theBackgroundIsAskedFor() async throws {
        let terminal = try FakeTerminal(
            columns: 80, rows: 24, replies: [.answer("\u{1B}]11;rgb:0000/0000/ffff\u{1B}\\\u{1B}[?62c")])
        let tool = try Tool()
        let (status, _) = try await tool.show(
            [fixture("png/rgb8.png"), "--process", "opacity=0.01"], on: terminal)
        #expect(status == 0)
        let color = try #require(screen(terminal).pixel(x: 0, y: 0))
        #expect(color & 0xFF > 0xF8 && color >> 8 < 0x0404)
    }

    @Test func aSilentTerminalGetsBlocks() async throws {
        let terminal = try FakeTerminal(columns: 80, rows: 24, replies: [])
        let before = terminal.settings
        let (status, _) = try await Tool().show([fixture("png/rgb8.png")], on: terminal)
        #expect(status == 0 && terminal.settings == before)
        #expect(screen(terminal).pixel(x: 0, y: 0) != nil)
    }

    @Test func hostileAnswersEnd() async throws {
        let flood = "\u{1B}]11;" + String(repeating: "x", count: 3000)
        for answer in [
            flood, "\u{1B}[6;99999;99999t\u{1B}_Gi=31;NO\u{1B}\\\u{1B}[?62c", "\u{1B}[?;;;;4", "\u{1B}\u{1B}[",
        ] {
            let terminal = try FakeTerminal(columns: 80, rows: 24, replies: [.answer(answer)])
            let before = terminal.settings
            let (status, _) = try await Tool().show([fixture("png/1x1.png")], on: terminal)
            #expect(status == 0 && terminal.settings == before)
            #expect(try KittyPicture.all(on: screen(terminal)).isEmpty)
        }
    }

    @Test func anAnimationPlaysItsLoops() async throws {
        let terminal = try FakeTerminal(columns: 80, rows: 24, replies: [.answer(Self.kitty)])
        let before = terminal.settings
        let tool = try Tool()
        try ShowFixture.gif(frames: 3, loops: 2).write(to: tool.folder.appending(path: "a.gif"))
        let (status, errors) = try await tool.show([tool.path("a.gif")], on: terminal)
        #expect(status == 0 && errors.isEmpty && terminal.settings == before)
        let pictures = try KittyPicture.all(on: screen(terminal))
        #expect(pictures.count >= 2 && pictures.allSatisfy { $0.row == 0 && $0.column == 0 })
    }

    /// Ctrl-C, as the terminal sends it, and a signal from elsewhere.
    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsAnEndlessAnimation(number: Int32) async throws {
        let frame = "\u{1B}[?2026l"
        let terminal = try FakeTerminal(
            columns: 80, rows: 24,
            replies: [
                .answer(Self.kitty), .run(after: frame) { _ in },
                number == SIGINT ? .type("\u{3}", after: frame) : .run(after: frame) { $0.signal(SIGTERM) },
            ])
        let before = terminal.settings
        let (status, errors) = try await Tool().show([fixture("gif/animated.gif"), "--loops", "0"], on: terminal)
        #expect(status == -number && errors.isEmpty)
        #expect(terminal.settings == before)
        let hidden = try #require(terminal.output.ranges(of: Array("\u{1B}[?25l".utf8)).last)
        let shown = try #require(terminal.output.ranges(of: Array("\u{1B}[?25h".utf8)).last)
        #expect(hidden.lowerBound < shown.lowerBound)
    }

    @Test func aSignalDuringALoadEndsIt() async throws {
        let gate = RawServerGate()
        let server = try RawServer { connection in
            connection.readRequest()
            gate.open()
            connection.waitForClose()
        }
        let terminal = try FakeTerminal(columns: 80, rows: 24, replies: [.answer(Self.kitty)])
        let before = terminal.settings
        async let ended = Tool().show([server.url("/a.png").absoluteString], on: terminal)
        await gate.opened()
        terminal.type("\u{3}")
        let (status, _) = try await ended
        #expect(status == -SIGINT && terminal.settings == before)
        withExtendedLifetime(server) {}
    }

    @Test func errorsOnTheTerminalLeaveFramesInTheirPlace() async throws {
        let terminal = try FakeTerminal(columns: 40, rows: 24, replies: [.answer("\u{1B}[?62;22c")])
        let missing = "/nowhere/" + String(repeating: "n", count: 60)
        let tool = try Tool()
        try ShowFixture.gif(frames: 3, loops: 1).write(to: tool.folder.appending(path: "a.gif"))
        let (status, _) = try await tool.show(
            [tool.path("a.gif"), missing, "--columns", "1", "--no-captions"], on: terminal, errorsOnTerminal: true)
        #expect(status == 1)
        let screen = screen(terminal, columns: 40)
        let text = (0..<screen.lines.count).map(screen.line)
        let error = try #require(text.firstIndex { $0.hasPrefix("halcyon: /nowhere/") })
        // The picture is above, and the error as it was written.
        #expect(error == 2 && text[error...].joined().contains("(badSource)"))
        #expect((0..<4).allSatisfy { screen.pixel(x: 3, y: $0) == 0x646464 })
    }
}
