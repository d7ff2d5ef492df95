import Foundation
import Halcyon
import HalcyonSystem
import Testing

@testable import HalcyonTool

/// The protocol and the sizes that a terminal is drawn with.
@Suite(.timeLimit(.minutes(5))) struct TerminalDetectionTests {
    private static let silent = TerminalAnswers()
    private static let plain = TerminalAnswers(attributes: [1, 22])
    private static let sixel = TerminalAnswers(attributes: [4])
    private static let kitty = TerminalAnswers(hasKitty: true, attributes: [4])

    private func way(_ variables: [String: String], _ answers: TerminalAnswers?) -> DrawingProtocol {
        TerminalEnvironment(variables).drawingProtocol(answers)
    }

    @Test func answersDecide() {
        let xterm = ["TERM": "xterm-256color", "COLORTERM": "truecolor"]
        #expect(way(xterm, Self.kitty) == .kitty)
        #expect(way(xterm, Self.sixel) == .sixel)
        #expect(way(xterm, Self.plain) == .blocks)
        #expect(way(xterm, Self.silent) == .blocks)
        #expect(way(xterm, nil) == .blocks)
    }

    @Test(arguments: [
        ["TERM_PROGRAM": "iTerm.app"], ["LC_TERMINAL": "iTerm2"], ["TERM_PROGRAM": "WezTerm"], ["WEZTERM_PANE": "0"],
        ["TERM_PROGRAM": "mintty"],
    ])
    func namesOfITerm(variables: [String: String]) {
        #expect(way(variables, Self.sixel) == .iterm2)
        #expect(way(variables, Self.silent) == .iterm2)
        #expect(way(variables, Self.kitty) == .kitty)
    }

    @Test(arguments: [
        ["TERM": "xterm-kitty"], ["KITTY_WINDOW_ID": "3"], ["TERM": "xterm-ghostty"], ["TERM_PROGRAM": "ghostty"],
    ])
    func namesOfKitty(variables: [String: String]) {
        #expect(way(variables, Self.silent) == .kitty)
        // Another terminal that was started in Kitty: it has answered, and not that.
        #expect(way(variables, Self.plain) == .blocks)
        #expect(way(variables, Self.sixel) == .sixel)
        // Behind tmux the answer is that of tmux.
        let multiplexed = variables.merging(["TMUX": "/tmp/tmux-0/default,1,0"]) { $1 }
        #expect(way(multiplexed, Self.plain) == .kitty)
    }

    @Test func colorsAreThoseOfTheTerminal() {
        func hasEveryColor(_ variables: [String: String]) -> Bool { TerminalEnvironment(variables).hasEveryColor }
        #expect(hasEveryColor(["TERM": "xterm-256color"]) && hasEveryColor([:]))
        #expect(!hasEveryColor(["TERM": "screen.xterm-256color"]))
        #expect(hasEveryColor(["TERM": "screen", "COLORTERM": "truecolor"]))
        #expect(hasEveryColor(["TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"]))
        #expect(!hasEveryColor(["TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"]))
        #expect(hasEveryColor(["TERM_PROGRAM": "Apple_Terminal", "COLORTERM": "24bit"]))
    }

    private func facts(
        _ choice: DrawingProtocol?, _ variables: [String: String], window: TerminalSize.Window?,
        _ port: ScriptedPort
    ) -> TerminalFacts {
        TerminalFacts(
            choice: choice, environment: TerminalEnvironment(variables), window: window, time: port.clock.timeSource,
            port: { port })
    }

    private static let window = TerminalSize.Window(columns: 100, rows: 30, pixels: PixelSize(0, 0))

    @Test func withoutATerminalNothingIsAsked() {
        let port = ScriptedPort("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c")
        let found = facts(nil, ["TERM": "xterm-kitty"], window: nil, port)
        #expect(port.sent.isEmpty)
        #expect(found.way == .blocks && !found.isTerminal)
        #expect(facts(.kitty, ["TERM": "xterm-kitty"], window: nil, port).way == .kitty)
    }

    @Test(arguments: ["", "dumb", "linux", "unknown"])
    func simpleTerminalsAreNotAsked(type: String) {
        let port = ScriptedPort("\u{1B}[?62;4c")
        #expect(facts(nil, ["TERM": type], window: Self.window, port).way == .blocks)
        #expect(port.sent.isEmpty)
    }

    @Test func aChoiceIsKeptAndSizesAreAskedFor() {
        let port = ScriptedPort("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;18;8t\u{1B}]11;rgb:00/00/ff\u{1B}\\\u{1B}[?62;4c")
        let found = facts(.sixel, ["TERM": "xterm"], window: Self.window, port)
        #expect(found.way == .sixel && found.isTerminal && !found.isWrapped)
        #expect(found.size == TerminalSize(columns: 100, rows: 30, cell: PixelSize(8, 18)))
        #expect(found.background?.description == "#0000ff")
    }

    @Test func picturesGoThroughTmuxAndTextDoesNot() {
        let variables = ["TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0"]
        for way in DrawingProtocol.allCases {
            let port = ScriptedPort("\u{1B}[?1c")
            #expect(facts(way, variables, window: Self.window, port).isWrapped == (way != .blocks))
            #expect(!port.sent.contains(UInt8(ascii: "_")))
        }
    }

    @Test func sizesComeFromTheWindowThenTheEnvironment() {
        let variables = ["COLUMNS": "120", "LINES": "40"]
        let window = TerminalSize.Window(columns: 100, rows: 30, pixels: PixelSize(900, 540))
        let answered = PixelSize(7, 14)
        #expect(
            TerminalSize(window: window, environment: variables, cell: answered)
                == TerminalSize(columns: 100, rows: 30, cell: PixelSize(9, 18)))
        #expect(
            TerminalSize(window: Self.window, environment: variables, cell: answered)
                == TerminalSize(columns: 100, rows: 30, cell: answered))
        #expect(
            TerminalSize(window: nil, environment: variables, cell: nil)
                == TerminalSize(columns: 120, rows: 40, cell: PixelSize(10, 20)))
        #expect(TerminalSize(window: nil, environment: [:], cell: nil) == TerminalSize(columns: 80, rows: 24))
    }

    @Test func strangeSizesAreReplaced() {
        let none = TerminalSize.Window(columns: 0, rows: 0, pixels: PixelSize(640, 480))
        #expect(TerminalSize(window: none, environment: [:], cell: nil) == TerminalSize(columns: 80, rows: 24))
        let huge = TerminalSize.Window(columns: 65_535, rows: 65_535, pixels: PixelSize(65_535, 65_535))
        let size = TerminalSize(window: huge, environment: [:], cell: nil)
        #expect(size == TerminalSize(columns: 1000, rows: 1000, cell: TerminalSize.assumedCell))
        for text in ["0", "-5", "x", "99999999999999999999"] {
            #expect(TerminalSize(window: nil, environment: ["COLUMNS": text], cell: nil).columns == 80)
        }
    }

    @Test func aFileIsNoWindow() throws {
        let file = try FileHandle(forReadingFrom: URL(filePath: "/dev/null"))
        #expect(TerminalSize.Window(file: file.fileDescriptor) == nil)
    }
}
