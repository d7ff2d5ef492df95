import Foundation
import Glibc

/// A bar on standard error that counts pictures, with their rate and the time that is left. Nothing where standard error is no
/// terminal.
struct ProgressBar {
    private let total: Int
    private let isShown: Bool
    /// Whether standard output may be on the same terminal, so that the bar is in the way of its lines.
    let sharesTerminal = isatty(STDOUT_FILENO) == 1
    private let started: ContinuousClock.Instant
    private var drawn: ContinuousClock.Instant?
    private var done = 0

    init(total: Int, isQuiet: Bool) {
        self.total = total
        let terminal = ProcessInfo.processInfo.environment["TERM"]
        isShown = !isQuiet && total > 0 && isatty(STDERR_FILENO) == 1 && terminal != "dumb"
        started = .now
    }

    /// Counts a picture. The bar is drawn at most ten times a second.
    mutating func advance() {
        done += 1
        guard isShown else { return }
        let now = ContinuousClock.now
        if let drawn, now - drawn < .milliseconds(100), done < total { return }
        draw(now)
    }

    /// Removes the bar.
    mutating func erase() {
        guard isShown, drawn != nil else { return }
        Output.write("\r\u{1B}[2K", to: FileHandle.standardError)
        drawn = nil
    }

    private mutating func draw(_ now: ContinuousClock.Instant) {
        drawn = now
        let text = Self.text(done: done, total: total, elapsed: now - started)
        Output.write("\r\u{1B}[2K\(text)", to: FileHandle.standardError)
    }

    /// Returns the bar, the count, the pictures a second and the time left at this rate.
    static func text(done: Int, total: Int, elapsed: Duration) -> String {
        let width = 28
        let filled = total > 0 ? width * min(done, total) / total : width
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: width - filled)
        let seconds = elapsed.milliseconds / 1000
        guard done > 0, seconds > 0 else { return "\(bar) \(done)/\(total)" }
        let rate = Double(done) / seconds
        let left = Int((Double(total - done) / rate).rounded(.up))
        return "\(bar) \(done)/\(total)  \(String(format: "%.1f", rate))/s  \(clock(left)) left"
    }

    private static func clock(_ seconds: Int) -> String {
        let (minutes, rest) = ((seconds / 60) % 60, seconds % 60)
        return seconds < 3600
            ? String(format: "%d:%02d", minutes, rest) : String(format: "%d:%02d:%02d", seconds / 3600, minutes, rest)
    }
}
