#if SVG
    /// What a document would cost, as far as its text tells before librsvg, which cannot be stopped, reads it.
    enum SVGCost {
        /// Characters that entities may become. Drawing programs use a dozen short ones for names.
        private static let mostEntityBytes = 1 << 20
        /// Layers of noise in one filter; beyond eight or so nothing changes in 8 bits.
        private static let mostOctaves = 64

        /// Elements that are drawn because they are used. Maps and charts come to a few thousand.
        private static let mostUses = 100_000

        /// - Throws: `CodecError.limitExceeded`.
        static func check(_ reader: ByteReader) throws {
            let entities = entityBytes(reader)
            guard entities <= mostEntityBytes else {
                throw CodecError.limitExceeded("bytes of entities", value: entities, limit: mostEntityBytes)
            }
            var elements = SVGUses(reader)
            let uses = elements.count()
            guard uses <= mostUses else {
                throw CodecError.limitExceeded("elements in use", value: uses, limit: mostUses)
            }
            var position = 0
            while let found = reader.firstMatch("numOctaves", from: position) {
                position = found + 10
                let octaves = firstNumber(reader, at: position)
                guard octaves <= mostOctaves else {
                    throw CodecError.limitExceeded("octaves of noise", value: octaves, limit: mostOctaves)
                }
            }
        }

        /// The bytes that all references to entities become, 0 where the document declares none.
        private static func entityBytes(_ reader: ByteReader) -> Int {
            var lengths: [[UInt8]: Int] = [:]
            var position = 0
            while let found = reader.firstMatch("<!ENTITY", from: position) {
                position = found + 8
                guard let (name, value) = declaration(reader, at: position) else { continue }
                // Those that it refers to stand before it; one that stands behind is counted as nothing, and libxml2's
                // own limit holds.
                lengths[name] = expanded(reader, value, lengths)
                position = value.upperBound
            }
            guard !lengths.isEmpty else { return 0 }
            return expanded(reader, position..<reader.count, lengths) - (reader.count - position)
        }

        /// Blanks, a name, blanks, and a value in quotes.
        private static func declaration(_ reader: ByteReader, at start: Int) -> (name: [UInt8], value: Range<Int>)? {
            let bytes = reader.bytes
            guard let nameStart = bytes[start...].firstIndex(where: { $0 > 0x20 }),
                let nameEnd = bytes[nameStart...].firstIndex(where: { $0 <= 0x20 }),
                let quote = bytes[nameEnd...].firstIndex(where: { $0 == 0x22 || $0 == 0x27 || $0 == 0x3E }),
                bytes[quote] != 0x3E, let end = reader.firstIndex(of: bytes[quote], from: quote + 1)
            else { return nil }
            return (Array(bytes[nameStart..<nameEnd]), quote + 1..<end)
        }

        /// The length of a part with every reference replaced, held at a figure beyond every limit.
        private static func expanded(_ reader: ByteReader, _ range: Range<Int>, _ lengths: [[UInt8]: Int]) -> Int {
            var total = range.count
            var position = range.lowerBound
            while let found = reader.firstIndex(of: 0x26, from: position), found < range.upperBound {
                position = found + 1
                guard let end = reader.firstIndex(of: 0x3B, from: position), end - position <= 256 else { continue }
                total = min(total + (lengths[Array(reader.bytes[position..<end])] ?? 0), 1 << 40)
            }
            return total
        }

        /// The number behind an attribute's name, 0 where none follows.
        private static func firstNumber(_ reader: ByteReader, at start: Int) -> Int {
            var value = 0
            var hasDigit = false
            for byte in reader.bytes[min(start, reader.count)...].prefix(64) {
                if (0x30...0x39).contains(byte) {
                    value = min(value * 10 + Int(byte - 0x30), 1 << 40)
                    hasDigit = true
                } else if hasDigit {
                    break
                }
            }
            return value
        }
    }
#endif
