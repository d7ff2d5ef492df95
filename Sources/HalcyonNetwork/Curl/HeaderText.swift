/// Header lines as bytes and as text: a character a byte (Latin-1), so that what a server sent goes back as it came.
enum HeaderText {
    /// A part of a received line. What would break out of a line when sent back becomes a space.
    static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 && $0 > 0x0D }) { return String(decoding: bytes, as: UTF8.self) }
        let scalars = bytes.map { $0 == 0x0D || $0 == 0x0A || $0 == 0 ? " " : Unicode.Scalar($0) }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Without the ends of lines at its end.
    static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var line = line[...]
        while let last = line.last, last == 0x0A || last == 0x0D { line.removeLast() }
        return line
    }

    /// Without the blanks around it. Only these two: as text, bytes of UTF-8 look like blanks of other kinds.
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes
    }

    /// A line to send, with the zero that ends it in C; UTF-8 where it has characters that are no single byte.
    static func bytes(of line: String) -> [UInt8] {
        if line.utf8.allSatisfy({ $0 < 0x80 }) { return Array(line.utf8) + [0] }
        let scalars = line.unicodeScalars
        let isLatin = scalars.allSatisfy { $0.value <= 0xFF }
        return (isLatin ? scalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(line.utf8)) + [0]
    }
}
