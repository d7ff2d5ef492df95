/// Header lines as bytes and as text: a character a byte (Latin-1), so that what a server sent goes back as it came.
enum HeaderText {
    /// A received line without its end. What would break out of a line when sent back becomes a space.
    static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        var line = bytes[...]
        while let last = line.last, last == 0x0A || last == 0x0D { line = line.dropLast() }
        let scalars = line.map { $0 == 0x0D || $0 == 0x0A || $0 == 0 ? " " : Unicode.Scalar($0) }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Without the blanks around it. Only these two: as text, bytes of UTF-8 look like blanks of other kinds.
    static func trimmed(_ text: Substring) -> String {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
        var scalars = text.unicodeScalars.drop(while: isBlank)
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// A line to send, with the zero that ends it in C; UTF-8 where it has characters that are no single byte.
    static func bytes(of line: String) -> [UInt8] {
        let scalars = line.unicodeScalars
        let isLatin = scalars.allSatisfy { $0.value <= 0xFF }
        return (isLatin ? scalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(line.utf8)) + [0]
    }
}
