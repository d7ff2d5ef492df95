import ArgumentParser

/// A way in which a terminal draws pictures.
enum DrawingProtocol: String, CaseIterable, Sendable {
    /// The graphics protocol of Kitty, which Ghostty, WezTerm and Konsole know too.
    case kitty
    /// The inline images of iTerm2.
    case iterm2
    /// The graphics of DEC's terminals.
    case sixel
    /// Half blocks of text in two colours each.
    case blocks
}

/// The value of `--protocol`.
enum ProtocolArgument: String, ExpressibleByArgument, CaseIterable {
    case auto, kitty, iterm2, sixel, blocks

    /// The protocol that was chosen; nil for the one that the terminal has.
    var choice: DrawingProtocol? { DrawingProtocol(rawValue: rawValue) }
}

/// The variables of the environment by which a terminal names itself.
struct TerminalEnvironment: Sendable {
    let variables: [String: String]

    init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// The type of the terminal, in small letters.
    var type: String { value("TERM").lowercased() }

    /// Whether tmux lies between the program and the terminal.
    var isTmux: Bool { !value("TMUX").isEmpty }

    /// Whether a multiplexer lies between the program and the terminal. It answers queries in the terminal's place.
    var isMultiplexed: Bool { isTmux || type.hasPrefix("screen") || type.hasPrefix("tmux") }

    /// Whether the terminal may be queried: the simplest ones print a query as text.
    var mayBeAsked: Bool { !["", "dumb", "linux", "unknown"].contains(type) }

    /// Whether text may have any colour, and not only those of a palette: nearly every terminal, but not GNU screen, unless it
    /// says so, nor Apple's.
    var hasEveryColor: Bool {
        if ["truecolor", "24bit"].contains(value("COLORTERM").lowercased()) { return true }
        return program != "apple_terminal" && (isTmux || !type.hasPrefix("screen"))
    }

    private var namesKitty: Bool {
        !value("KITTY_WINDOW_ID").isEmpty || type.contains("kitty") || type.contains("ghostty")
            || program == "ghostty"
    }

    private var namesITerm: Bool {
        ["iterm.app", "wezterm", "mintty"].contains(program) || value("LC_TERMINAL").lowercased() == "iterm2"
            || variables.keys.contains { $0.hasPrefix("WEZTERM_") }
    }

    private var program: String { value("TERM_PROGRAM").lowercased() }

    private func value(_ name: String) -> String { variables[name] ?? "" }

    /// Returns the protocol of the terminal.
    ///
    /// An answer of the terminal counts more than a variable, which may come from another terminal that the session began
    /// in. Behind a multiplexer, answers are the multiplexer's, and the variables are all that is known.
    ///
    /// - Parameter answers: nil if the terminal was not asked.
    func drawingProtocol(_ answers: TerminalAnswers?) -> DrawingProtocol {
        if answers?.hasKitty == true { return .kitty }
        let isKnownNotToBeKitty = answers?.attributes != nil && !isMultiplexed
        if namesKitty, !isKnownNotToBeKitty { return .kitty }
        if namesITerm { return .iterm2 }
        return answers?.attributes?.contains(4) == true ? .sixel : .blocks
    }
}
