/// A converter between the bytes and the text of header lines: one character per byte (Latin-1), so that a server's
/// values are sent back unchanged.
enum HeaderText {
    /// Returns a part of a received line as text. A character that would break the line when sent back becomes a space.
    static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 && $0 > 0x0D }) { return String(decoding: bytes, as: UTF8.self) }
        let scalars = bytes.map { $0 == 0x0D || $0 == 0x0A || $0 == 0 ? " " : Unicode.Scalar($0) }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Returns a line without the line breaks at its end.
    static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var line = line[...]
        while let last = line.last, last == 0x0A || last == 0x0D { line.removeLast() }
        return line
    }

    /// Returns bytes without the spaces and tabs around them. Only these two: read as text, bytes of UTF-8 may look
    /// like other kinds of white space.
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes
    }

    /// Returns the bytes of a line to send, with the terminating zero of C; in UTF-8 if a character does not fit into
    /// one byte.
    static func bytes(of line: String) -> [UInt8] {
        if line.utf8.allSatisfy({ $0 < 0x80 }) { return Array(line.utf8) + [0] }
        let scalars = line.unicodeScalars
        let isLatin = scalars.allSatisfy { $0.value <= 0xFF }
        return (isLatin ? scalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(line.utf8)) + [0]
    }
}
