import Foundation
import Glibc

/// A progress bar on a terminal; plain lines elsewhere.
struct ProgressLine {
    private let title: String
    private let total: Int
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var done = 0

    init(title: String, total: Int) {
        self.title = title
        self.total = total
        if !isTerminal { Output.line("\(title) (\(total) images)") }
    }

    mutating func advance(_ name: String) {
        done += 1
        guard isTerminal else {
            Output.line("  \(done)/\(total)  \(name)")
            return
        }
        let width = 28
        let filled = total > 0 ? width * done / total : width
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: width - filled)
        // Returns to the start of the line and erases the previous name.
        Output.write("\r\u{1B}[2K\(bar) \(done)/\(total)  \(name)", to: FileHandle.standardOutput)
    }

    func finish(_ milliseconds: Double) {
        let line = "\(title): \(Milliseconds.text(milliseconds))"
        Output.line(isTerminal ? "\r\u{1B}[2K\(line)" : line)
    }
}
