import Glibc
import Halcyon

/// The size of a terminal in cells, and that of a cell in pixels.
struct TerminalSize: Hashable, Sendable {
    /// The size of a cell where nothing is known about it.
    static let assumedCell = PixelSize(10, 20)

    let columns: Int
    let rows: Int
    let cell: PixelSize

    /// Creates a size. Columns and rows are clamped to 1...1000.
    init(columns: Int, rows: Int, cell: PixelSize = assumedCell) {
        self.columns = min(max(columns, 1), 1000)
        self.rows = min(max(rows, 1), 1000)
        self.cell = cell
    }

    /// The size of a terminal's window as the system knows it.
    struct Window: Hashable, Sendable {
        var columns: Int
        var rows: Int
        /// The pixels of all cells; 0 if unknown.
        var pixels: PixelSize

        init(columns: Int, rows: Int, pixels: PixelSize) {
            self.columns = columns
            self.rows = rows
            self.pixels = pixels
        }

        /// Asks the system for the window of an open file; nil if the file is no terminal.
        init?(file: Int32) {
            var size = winsize()
            guard ioctl(file, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
            self.init(
                columns: Int(size.ws_col), rows: Int(size.ws_row),
                pixels: PixelSize(Int(size.ws_xpixel), Int(size.ws_ypixel)))
        }
    }

    /// Combines the sources by their order: the window, `COLUMNS` and `LINES`, 80 by 24; for cells the window, the terminal's
    /// answer, the assumption.
    init(window: Window?, environment: [String: String], cell answered: PixelSize?) {
        func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }
        let known = window.flatMap { $0.columns > 0 && $0.rows > 0 ? $0 : nil }
        let counted = known.flatMap {
            Self.plausibleCell(width: $0.pixels.width / $0.columns, height: $0.pixels.height / $0.rows)
        }
        self.init(
            columns: known?.columns ?? number("COLUMNS") ?? 80, rows: known?.rows ?? number("LINES") ?? 24,
            cell: counted ?? answered ?? Self.assumedCell)
    }

    /// Returns a cell's size; nil if no font has it.
    static func plausibleCell(width: Int?, height: Int?) -> PixelSize? {
        guard let width, let height, (2...256).contains(width), (2...256).contains(height) else { return nil }
        return PixelSize(width, height)
    }
}
