import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import Testing

@testable import HalcyonTool

/// The answers of terminals, and of what only looks like one.
@Suite(.timeLimit(.minutes(5))) struct TerminalAnswerTests {
    private static let kitty = "\u{1B}_Gi=31;OK\u{1B}\\"
    private static let cell = "\u{1B}[6;20;9t"
    private static let limit = "\u{1B}[?1;0;16S\u{1B}[?2;0;800;600S"
    private static let background = "\u{1B}]11;rgb:ffff/8000/0000\u{1B}\\"
    private static let attributes = "\u{1B}[?62;4;22c"

    private func answers(_ text: String) -> TerminalAnswers {
        var reader = TerminalAnswerReader()
        reader.read(Array(text.utf8))
        return reader.answers
    }

    private func ask(_ port: ScriptedPort, asksKitty: Bool = true) -> TerminalAnswers {
        TerminalQuery.ask(port, asksKitty: asksKitty, time: port.clock.timeSource)
    }

    @Test func allAnswersAreRead() {
        let answers = answers(Self.kitty + Self.cell + Self.limit + Self.background + Self.attributes)
        #expect(answers.hasKitty && answers.attributes == [4, 22])
        #expect(answers.cell == PixelSize(9, 20) && answers.sixelLimit == PixelSize(800, 600))
        #expect(answers.sixelColors == 16)
        #expect(answers.background?.description == "#ff8000")
    }

    @Test func answersMayArriveByteByByte() {
        let text = Self.kitty + Self.cell + Self.limit + Self.background + Self.attributes
        var reader = TerminalAnswerReader()
        for byte in text.utf8 {
            #expect(!reader.isDone)
            reader.read([byte])
        }
        #expect(reader.isDone && reader.answers == answers(text))
    }

    @Test(arguments: [
        "\u{1B}]11;rgb:1/2/3\u{07}", "\u{1B}]11;rgba:11/22/33/ff\u{1B}\\", "\u{1B}]11;rgb:1111/2222/3333\u{1B}\\",
    ])
    func backgroundsHaveSeveralForms(text: String) {
        #expect(answers(text).background?.description == "#112233")
    }

    @Test func theClassOfATerminalIsNoAttribute() {
        #expect(answers("\u{1B}[?4c").attributes == [])
        #expect(answers("\u{1B}[?6c").attributes == [])
    }

    @Test(arguments: [
        "\u{1B}_Gi=31;ENOENT\u{1B}\\", "\u{1B}_Gi=32;OK\u{1B}\\", "\u{1B}_Gi=31\u{1B}\\", "\u{1B}_i=31;OK\u{1B}\\",
        "Gi=31;OK", "\u{1B}]Gi=31;OK\u{1B}\\", "\u{1B}_Gi=31;OK\u{18}", "\u{1B}_Gi=31;OK",
        "\u{1B}[6;20t", "\u{1B}[6;0;0t", "\u{1B}[6;9999;9999t", "\u{1B}[6;-5;-5t", "\u{1B}[4;600;800t",
        "\u{1B}[6;99999999999999999999;9t", "\u{1B}[?2;1;800;600S", "\u{1B}[?2;0;0;0S", "\u{1B}[?2;0;-1;-1S",
        "\u{1B}[?1;0;0S", "\u{1B}[?1;0;-5S", "\u{1B}[?1;0;99999999999999999999S", "\u{1B}[?1;3;16S",
        "\u{1B}]11;rgb:fffff/0/0\u{1B}\\", "\u{1B}]11;rgb:ff/ff\u{1B}\\", "\u{1B}]11;rgb:xx/00/00\u{1B}\\",
        "\u{1B}]11;rgb:-1/00/00\u{1B}\\", "\u{1B}]11;rgb:\u{1B}\\", "\u{1B}]10;rgb:ff/ff/ff\u{1B}\\", "\u{1B}[c",
        "\u{1B}[0c", "\u{1B}", "\u{1B}[", "\u{1B}[?", "\u{1B}]", "\u{1B}\u{1B}\u{1B}", "typed text\r\n\u{3}",
        "\u{FF}\u{9B}?62;4c",
    ])
    func anythingElseIsNoAnswer(text: String) {
        #expect(answers(text) == TerminalAnswers())
        // It hides no answer that follows. A string that did not end is ended by the next ESC.
        #expect(answers(text + "\u{1B}\\" + Self.attributes).attributes == [4, 22])
    }

    @Test func aLongAnswerIsSkipped() {
        let long = String(repeating: "1", count: TerminalAnswerReader.maximumLength)
        #expect(answers("\u{1B}_Gi=31,x=\(long);OK\u{1B}\\").hasKitty == false)
        #expect(answers("\u{1B}[?62;4;\(long)c").attributes == nil)
        #expect(answers("\u{1B}]\(long)\u{1B}\\" + Self.kitty).hasKitty)
    }

    @Test func anAnswerWithoutEndIsCut() {
        var reader = TerminalAnswerReader()
        reader.read(repeatElement(UInt8(ascii: "x"), count: TerminalAnswerReader.maximumBytes - 1))
        #expect(!reader.isDone)
        reader.read(Array("x".utf8))
        #expect(reader.isDone)
        reader.read(Array(Self.attributes.utf8))
        #expect(reader.answers == TerminalAnswers())
    }

    @Test func anyBytesAreRead() {
        var random = SystemRandomNumberGenerator()
        let likely = Array("\u{1B}[]_P\\;?GOKc0123456789\u{07}".utf8)
        for _ in 0..<200 {
            var reader = TerminalAnswerReader()
            let bytes = (0..<600).map { _ in
                Bool.random(using: &random) ? likely.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255)
            }
            reader.read(bytes)
            if let cell = reader.answers.cell { #expect((2...256).contains(cell.width)) }
        }
    }

    @Test func theQuestionIsAskedOnceAndEndsWithTheAttributes() {
        let port = ScriptedPort(Self.kitty + Self.attributes)
        #expect(ask(port).hasKitty)
        let sent = String(decoding: port.sent, as: UTF8.self)
        #expect(sent.hasPrefix("\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\") && sent.hasSuffix("\u{1B}[c"))
        #expect(port.waits == 1)
    }

    @Test func aMultiplexerIsNotAskedForKitty() {
        let port = ScriptedPort(Self.attributes)
        #expect(ask(port, asksKitty: false).attributes == [4, 22])
        #expect(!port.sent.contains(UInt8(ascii: "_")))
    }

    @Test func aSilentTerminalIsWaitedForOnce() {
        let port = ScriptedPort([])
        let start = port.clock.now
        #expect(ask(port) == TerminalAnswers())
        #expect(port.clock.now.timeIntervalSince(start) == 0.5)
        #expect(port.waits == 1)
    }

    @Test func aSlowTerminalIsCutOffInTheMiddle() {
        let port = ScriptedPort([
            .bytes(Array(Self.kitty.utf8), after: .milliseconds(250)),
            .bytes(Array("\u{1B}[?62;".utf8), after: .milliseconds(125)),
            .bytes(Array("4;22c".utf8), after: .milliseconds(500)),
        ])
        let start = port.clock.now
        let answers = ask(port)
        #expect(answers.hasKitty && answers.attributes == nil)
        #expect(port.clock.now.timeIntervalSince(start) == 0.5)
    }

    @Test func aTerminalThatTalksForEverIsCutOff() {
        let flood = [UInt8](repeating: UInt8(ascii: "a"), count: 512)
        let port = ScriptedPort(Array(repeating: .bytes(flood, after: .zero), count: 1000))
        #expect(ask(port) == TerminalAnswers())
        #expect(port.waits == TerminalAnswerReader.maximumBytes / 512)
    }

    @Test func aTerminalThatIsGoneIsNotWaitedFor() {
        let port = ScriptedPort([.bytes(Array(Self.kitty.utf8), after: .zero), .end])
        let start = port.clock.now
        #expect(ask(port).hasKitty)
        #expect(port.clock.now == start)
    }
}
