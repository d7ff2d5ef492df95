import Foundation
import HalcyonSystem

/// The output of `halcyon show` and the terminal behind it, whose settings are restored however the program ends.
final class ShowScreen: Sendable {
    let facts: TerminalFacts
    let output = StandardScreen()
    private let device: TerminalDevice?

    /// Asks the terminal, if the output is one.
    init(_ choice: DrawingProtocol?) {
        let window = TerminalSize.Window(file: STDOUT_FILENO)
        let device = window == nil ? nil : TerminalDevice()
        self.device = device
        if window != nil {
            EndSignals.handle([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [output] in
                device?.restore()
                output.end()
            }
        }
        facts = TerminalFacts(
            choice: choice, environment: TerminalEnvironment(ProcessInfo.processInfo.environment), window: window,
            port: {
                // Without quiet mode the answers would be shown as text, and not arrive before the line ends.
                device?.beginQuiet() == true ? device : nil
            })
        device?.restore()
    }

    /// Begins a time in which the cursor is hidden and keys are not shown.
    func beginPlaying() throws {
        guard facts.isTerminal else { return }
        device?.beginQuiet()
        try output.hideCursor()
    }

    func end() {
        device?.restore()
        try? output.showCursor()
    }
}
