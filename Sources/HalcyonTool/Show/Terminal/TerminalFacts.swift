import Halcyon
import HalcyonSystem

/// The facts that decide how pictures are drawn: the protocol, the sizes, the background.
struct TerminalFacts: Sendable {
    let way: DrawingProtocol
    let size: TerminalSize
    /// The colour of the background; nil if the terminal has not said it.
    let background: Color?
    /// The largest picture of Sixel in pixels; nil if unknown.
    let sixelLimit: PixelSize?
    /// The maximum number of colours of a picture of Sixel.
    let sixelColors: Int
    /// Whether the output is a terminal.
    let isTerminal: Bool
    /// Whether text may have any colour.
    let hasEveryColor: Bool
    /// Whether sequences of pictures go through tmux.
    let isWrapped: Bool

    /// Gathers the facts. Nothing is asked where the output is no terminal: the answers would reach somebody else.
    ///
    /// - Parameters:
    ///   - choice: The protocol that the user has chosen; nil for the terminal's own, and blocks without a terminal.
    ///   - window: The window of the output; nil if it is no terminal.
    ///   - port: Opens the connection to the terminal.
    init(
        choice: DrawingProtocol?, environment: TerminalEnvironment, window: TerminalSize.Window?,
        time: TimeSource = .system, port: () -> (any TerminalPort)?
    ) {
        var answers: TerminalAnswers?
        if window != nil, environment.mayBeAsked, let port = port() {
            answers = TerminalQuery.ask(port, asksKitty: !environment.isMultiplexed, time: time)
        }
        isTerminal = window != nil
        way = choice ?? (isTerminal ? environment.drawingProtocol(answers) : .blocks)
        size = TerminalSize(window: window, environment: environment.variables, cell: answers?.cell)
        background = answers?.background
        sixelLimit = answers?.sixelLimit
        sixelColors = min(answers?.sixelColors ?? 256, 256)
        hasEveryColor = environment.hasEveryColor
        isWrapped = environment.isTmux && way != .blocks
    }
}
