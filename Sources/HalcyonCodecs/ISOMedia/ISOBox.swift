/// A box of an ISO base media file.
package struct ISOBox {
    package let reader: ByteReader
    /// The offset in `reader` at which the box begins.
    package let start: Int
    /// The body, as far as it is present.
    package let body: ByteReader
    /// Whether the box reaches past the end of its container.
    package let isCut: Bool
    /// The offset at which the next box begins.
    package let end: Int

    /// Reads the box at `start`; nil if no box begins there.
    private init?(_ reader: ByteReader, at start: Int) {
        guard let short = reader.bigEndian32(start), reader.has(8, at: start) else { return nil }
        var (head, length) = (8, short)
        if short == 1 {
            guard let high = reader.bigEndian32(start + 8), let low = reader.bigEndian32(start + 12) else { return nil }
            // Lengths beyond 2^62 bytes lie past any end, so they are clamped.
            (head, length) = (16, min(high, 1 << 30) << 32 | low)
        } else if short == 0 {
            length = reader.count - start
        }
        guard length >= head else { return nil }
        self.reader = reader
        self.start = start
        isCut = length > reader.count - start
        end = isCut ? reader.count : start + length
        body = reader.part(at: start + head, length: end - start - head)
    }

    package func isNamed(_ name: StaticString) -> Bool { reader.matches(name, at: start + 4) }

    /// The name, with a question mark for each byte that is not printable.
    var name: String {
        String(
            decoding: reader.bytes[start + 4..<start + 8].map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }

    /// Whether the name is printable ASCII. The libraries skip unknown boxes whatever their names are.
    private var hasPlainName: Bool {
        (0..<4).allSatisfy { (0x20...0x7E).contains(reader.bytes[start + 4 + $0]) }
    }

    /// Returns the boxes of a file, up to the first bytes that are not a box: other data may follow the boxes.
    package static func ofFile(_ reader: ByteReader) -> some Sequence<ISOBox> {
        all(in: reader).lazy.prefix { $0.hasPlainName }
    }

    /// Returns the consecutive boxes inside another box, up to the first bytes that are not a box.
    package static func all(in reader: ByteReader, from start: Int = 0) -> UnfoldSequence<ISOBox, Int> {
        sequence(state: start) { offset in
            guard let box = ISOBox(reader, at: offset) else { return nil }
            offset = box.end
            return box
        }
    }
}
