import Halcyon
import HalcyonSystem

/// Plays the animations on the screen in their places until all have ended.
///
/// A frame is encoded and written as a whole, so that animations beside each other do not mix. Frames that are late, because
/// the terminal is slow, are skipped.
struct ScreenPlayer: Sendable {
    let encoder: PictureEncoder
    let output: any ScreenOutput
    /// The number of loops; nil for that of each file, 0 for ever.
    let loops: Int?
    var time = TimeSource.system
    /// The pool of the decoded frames; nil for the process's own.
    var pool: FramePool?

    /// Plays the animations of tiles.
    ///
    /// - Parameter line: The line of the cursor, which stands at its start, and does so again after each frame.
    /// - Throws: `FailureReport` if the output cannot be written; the errors of the encoder.
    func play(_ tiles: [PlacedTile], line: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tile in tiles { group.addTask { try await play(tile, line: line) } }
            try await group.waitForAll()
        }
    }

    private func play(_ tile: PlacedTile, line: Int) async throws {
        var configuration = AnimatedImagePlayer.Configuration(joinsOthers: false)
        if let loops { configuration.repeatCount = loops == 0 ? .infinite : .finite(loops) }
        for try await frame in tile.tile.image.playedFrames(configuration: configuration, time: time, pool: pool) {
            let bitmap = frame.image.bitmap
            let picture = try await ThreadPools.cpu.run { [encoder] context in
                try encoder.picture(bitmap, id: tile.id, isFrame: true, context: context)
            }
            try output.write(Self.bytes(picture, column: tile.column, up: line - tile.top))
        }
    }

    /// Returns the bytes that draw a frame some lines above the cursor, which comes back to the start of its line.
    static func bytes(_ picture: PictureEncoder.Picture, column: Int, up: Int) -> [UInt8] {
        var bytes = ControlSequence.beginUpdate + [0x0D] + ControlSequence.up(up)
        switch picture {
        case .sequence(let sequence):
            bytes += ControlSequence.right(column) + ControlSequence.saveCursor + sequence
            bytes += ControlSequence.restoreCursor + [0x0D] + ControlSequence.down(up)
        case .lines(let lines):
            for line in lines {
                bytes += ControlSequence.right(column) + line + [0x0D] + ControlSequence.down(1)
            }
            bytes += ControlSequence.down(up - lines.count)
        }
        return bytes + ControlSequence.endUpdate
    }
}
