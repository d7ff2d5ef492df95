import Halcyon
import HalcyonSystem

/// A connection to a terminal: the terminal itself, or a test's script.
protocol TerminalPort {
    /// Sends bytes to the terminal; what cannot be sent is lost.
    func send(_ bytes: [UInt8])

    /// Returns the bytes that have arrived, at the latest after the duration; empty if there are none, nil if there will be
    /// none any more.
    func receive(within duration: Duration) -> [UInt8]?
}

/// The questions to a terminal, and the wait for its answers.
enum TerminalQuery {
    /// The number of the picture in Kitty's query.
    static let kittyID = 31
    /// The time for all answers. A terminal that does not know a question still answers the last one, so that the wait takes
    /// this long only where nothing answers.
    static let patience = Duration.milliseconds(500)

    /// Returns the questions: a picture that Kitty checks and never shows, the size of a cell, the limits of Sixel, the
    /// background, and the attributes, which any terminal answers and which therefore come last.
    ///
    /// - Parameter asksKitty: False behind a multiplexer, which takes the question for a title.
    static func text(asksKitty: Bool) -> [UInt8] {
        let kitty = asksKitty ? "\u{1B}_Gi=\(kittyID),s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\" : ""
        return ControlSequence.bytes(kitty + "\u{1B}[16t\u{1B}[?1;1;0S\u{1B}[?2;1;0S\u{1B}]11;?\u{1B}\\\u{1B}[c")
    }

    /// Asks a terminal on the calling thread, which waits for the answers.
    static func ask(_ port: some TerminalPort, asksKitty: Bool, time: TimeSource = .system) -> TerminalAnswers {
        let end = time.steady + patience
        var reader = TerminalAnswerReader()
        port.send(text(asksKitty: asksKitty))
        while !reader.isDone {
            let rest = end - time.steady
            guard rest > .zero, let bytes = port.receive(within: rest) else { break }
            reader.read(bytes)
        }
        return reader.answers
    }
}
