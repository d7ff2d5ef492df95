/// A box of an ISO base media file.
struct ISOBox {
    let reader: ByteReader
    /// Where the box begins in `reader`.
    let start: Int
    /// As far as it is there.
    let body: ByteReader
    /// Whether it reaches past the end of what holds it.
    let isCut: Bool
    /// Where the next one begins.
    let end: Int

    /// The box at `start`, nil where no box begins.
    private init?(_ reader: ByteReader, at start: Int) {
        guard let short = reader.bigEndian32(start), reader.has(8, at: start) else { return nil }
        var (head, length) = (8, short)
        if short == 1 {
            guard let high = reader.bigEndian32(start + 8), let low = reader.bigEndian32(start + 12) else { return nil }
            // More than 2^62 bytes lie behind every end.
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

    func isNamed(_ name: StaticString) -> Bool { reader.matches(name, at: start + 4) }

    /// Whether its name is text. The libraries pass over boxes whatever they are named.
    private var hasPlainName: Bool {
        (0..<4).allSatisfy { (0x20...0x7E).contains(reader.bytes[start + 4 + $0]) }
    }

    /// The boxes of a file, up to the first bytes that are none: other data may stand behind them.
    static func ofFile(_ reader: ByteReader) -> some Sequence<ISOBox> {
        all(in: reader).lazy.prefix { $0.hasPlainName }
    }

    /// The boxes that stand one behind the other within another, up to the first that is none.
    static func all(in reader: ByteReader, from start: Int = 0) -> UnfoldSequence<ISOBox, Int> {
        sequence(state: start) { offset in
            guard let box = ISOBox(reader, at: offset) else { return nil }
            offset = box.end
            return box
        }
    }
}
