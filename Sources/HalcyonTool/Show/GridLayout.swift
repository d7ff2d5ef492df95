import Halcyon

/// The places of pictures on a screen: tiles of one size beside each other, in rows.
struct GridLayout: Hashable, Sendable {
    /// The columns between two tiles.
    static let gap = 2
    /// The columns of a tile below which tiles are not made smaller by themselves.
    static let usualTile = 24
    /// The longest side of a picture in pixels, whatever a terminal says about its size.
    static let maximumSide = 4096

    /// The number of tiles in a row.
    let across: Int
    /// The width of a tile in cells.
    let tileColumns: Int
    /// The maximum height of a picture in cells.
    let tileRows: Int
    /// The lines of text below a picture.
    let captionRows: Int

    /// Lays out a number of pictures.
    ///
    /// - Parameters:
    ///   - across: The number of tiles in a row that the user wants; fewer if they would have no width. By default as many
    ///     as are wide enough.
    ///   - width: The columns that the user wants to use; those of the terminal by default, and at most.
    ///   - height: The maximum rows of a picture. By default those of the screen, and for several pictures a square.
    ///   - isTerminal: Whether a row must fit on the screen, because the cursor goes back to its start.
    init(
        count: Int, across wanted: Int?, width: Int?, height: Int?, screen: TerminalSize, isTerminal: Bool,
        showsCaptions: Bool
    ) {
        let columns = isTerminal ? min(width ?? screen.columns, screen.columns) : min(width ?? screen.columns, 1000)
        let usual = max(1, min(count, (columns + Self.gap) / (Self.usualTile + Self.gap)))
        across = max(1, min(wanted ?? usual, max(1, count), (columns + Self.gap) / (1 + Self.gap)))
        tileColumns = max(1, (columns - Self.gap * (across - 1)) / across)
        captionRows = showsCaptions && count > 1 ? 2 : 0
        // The line below stays free for the prompt.
        let room = max(1, screen.rows - 1 - captionRows)
        let square = max(1, tileColumns * screen.cell.width / screen.cell.height)
        let rows = height ?? (count > 1 ? min(room, square) : room)
        tileRows = max(1, min(rows, isTerminal ? room : 1000))
    }

    /// Returns the column at which a tile of a row begins.
    func column(of tile: Int) -> Int { tile * (tileColumns + Self.gap) }

    /// Returns the box that a picture fits, in the pixels of a protocol.
    func box(_ way: DrawingProtocol, cell: PixelSize, sixelLimit: PixelSize?) -> PixelSize {
        guard way != .blocks else { return PixelSize(tileColumns, tileRows * 2) }
        let limit = way == .sixel ? sixelLimit : nil
        return PixelSize(
            min(tileColumns * cell.width, limit?.width ?? .max, Self.maximumSide),
            min(tileRows * cell.height, limit?.height ?? .max, Self.maximumSide))
    }

    /// Returns the rows that a picture takes.
    static func rows(of size: PixelSize, _ way: DrawingProtocol, cell: PixelSize) -> Int {
        way == .blocks ? (size.height + 1) / 2 : (size.height + cell.height - 1) / cell.height
    }
}
