import Halcyon
import HalcyonSystem

/// Draws rows of tiles, one below the other, and keeps the books of their places.
struct GridPainter: Sendable {
    let layout: GridLayout
    let encoder: PictureEncoder
    let screen: TerminalSize
    let output: any ScreenOutput
    /// The number of the first picture in the terminal.
    let firstID: UInt32

    /// The lines above the cursor, which stands at the start of a line.
    private(set) var line = 0
    /// The animations that are still on the screen.
    private(set) var moving: [PlacedTile] = []
    private var count: UInt32 = 0

    init(layout: GridLayout, encoder: PictureEncoder, screen: TerminalSize, output: any ScreenOutput, firstID: UInt32) {
        self.layout = layout
        self.encoder = encoder
        self.screen = screen
        self.output = output
        self.firstID = firstID
    }

    /// Draws a row of at most `layout.across` tiles, an animation as its first frame.
    ///
    /// - Throws: `FailureReport` if the output cannot be written; the errors of the encoder.
    mutating func draw(_ tiles: [ShowTile]) async throws {
        let placed = tiles.enumerated().map { index, tile in
            defer { count += 1 }
            return PlacedTile(
                tile: tile, id: firstID &+ count, column: layout.column(of: index), top: line)
        }
        let pictures = try await ThreadPools.cpu.run { [encoder] context in
            try placed.map { place in
                if let file = place.tile.file { return encoder.file(file, size: place.tile.image.size) }
                return try encoder.picture(place.tile.image.bitmap, id: place.id, context: context)
            }
        }
        let rows = tiles.map { GridLayout.rows(of: $0.image.size, encoder.way, cell: screen.cell) }.max() ?? 0
        try output.write(bytes(placed, pictures, rows: rows))
        line += rows + layout.captionRows
        moving += placed.filter { $0.tile.image.animation != nil && $0.tile.file == nil }
        forgetScrolled()
    }

    /// Notes lines that something else has written below the last row, such as an error.
    mutating func skip(lines count: Int) {
        line += count
        forgetScrolled()
    }

    /// Drops animations whose upper edge the screen no longer shows, so that the cursor cannot reach it.
    private mutating func forgetScrolled() {
        moving = moving.filter { line - $0.top < screen.rows }
    }

    private func bytes(_ tiles: [PlacedTile], _ pictures: [PictureEncoder.Picture], rows: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        let texts = pictures.compactMap { if case .lines(let lines) = $0 { lines } else { nil } }
        if texts.count == pictures.count {
            for row in 0..<rows {
                bytes += Self.textLine(
                    zip(tiles, texts).compactMap { tile, lines in
                        row < lines.count ? (tile.column, lines[row], tile.tile.image.width) : nil
                    })
            }
            return bytes + captions(tiles)
        }
        // The room is made first: a picture at the bottom would scroll the screen, and the places with it.
        bytes += [UInt8](repeating: 0x0A, count: rows + layout.captionRows)
        bytes += ControlSequence.up(rows + layout.captionRows)
        for (tile, picture) in zip(tiles, pictures) {
            guard case .sequence(let sequence) = picture else { continue }
            bytes += [0x0D] + ControlSequence.right(tile.column)
            bytes += ControlSequence.saveCursor + sequence + ControlSequence.restoreCursor
        }
        return bytes + [0x0D] + ControlSequence.down(rows) + captions(tiles)
    }

    private func captions(_ tiles: [PlacedTile]) -> [UInt8] {
        (0..<layout.captionRows).flatMap { row in
            Self.textLine(
                tiles.map { tile in
                    let text = row < tile.tile.caption.count ? tile.tile.caption[row] : ""
                    let cut = TerminalText.cut(text, to: layout.tileColumns)
                    return (tile.column, ControlSequence.bytes(cut), TerminalText.width(cut))
                })
        }
    }

    /// Returns a line of texts at their columns, with its line break.
    private static func textLine(_ parts: [(column: Int, bytes: [UInt8], width: Int)]) -> [UInt8] {
        var (line, used): ([UInt8], Int) = ([], 0)
        for part in parts {
            line += [UInt8](repeating: 0x20, count: max(0, part.column - used)) + part.bytes
            used = max(used, part.column) + part.width
        }
        return line + [0x0A]
    }
}
