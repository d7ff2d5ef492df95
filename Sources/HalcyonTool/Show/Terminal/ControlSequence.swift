/// The control sequences that the pictures need, as bytes.
enum ControlSequence {
    /// The introducer of each sequence.
    static let escape: UInt8 = 0x1B
    /// The end of a string sequence: `ESC \`.
    static let stringEnd: [UInt8] = [escape, 0x5C]
    /// Resets colours and attributes.
    static let plain = bytes("\u{1B}[0m")
    /// Saves the place of the cursor, for `restoreCursor`.
    static let saveCursor = bytes("\u{1B}7")
    static let restoreCursor = bytes("\u{1B}8")
    static let hideCursor = bytes("\u{1B}[?25l")
    static let showCursor = bytes("\u{1B}[?25h")
    /// Holds back the display until `endUpdate`, so that a frame never shows half drawn; others ignore it.
    static let beginUpdate = bytes("\u{1B}[?2026h")
    static let endUpdate = bytes("\u{1B}[?2026l")

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Moves the cursor up; a count of 0 would move by 1, so it is left out.
    static func up(_ rows: Int) -> [UInt8] { move(rows, "A") }

    static func down(_ rows: Int) -> [UInt8] { move(rows, "B") }

    static func right(_ columns: Int) -> [UInt8] { move(columns, "C") }

    private static func move(_ count: Int, _ letter: String) -> [UInt8] {
        count > 0 ? bytes("\u{1B}[\(count)\(letter)") : []
    }
}

/// The wrapping of sequences that tmux is to hand on to the terminal around it.
enum TmuxPassthrough {
    /// Returns a sequence within `ESC P tmux; ... ESC \`, each ESC of it doubled. tmux hands it on where its option
    /// `allow-passthrough` is on.
    static func wrapped(_ sequence: [UInt8]) -> [UInt8] {
        var result = ControlSequence.bytes("\u{1B}Ptmux;")
        result.reserveCapacity(sequence.count + 16)
        for byte in sequence {
            if byte == ControlSequence.escape { result.append(byte) }
            result.append(byte)
        }
        return result + ControlSequence.stringEnd
    }
}
