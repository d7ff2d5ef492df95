#if SVG
    /// What a document would cost, as far as its text tells before librsvg, which cannot be stopped, reads it.
    enum SVGCost {
        /// Characters that entities may become. Drawing programs use a dozen short ones for names.
        private static let mostEntityBytes = 1 << 20
        /// Layers of noise in one filter; beyond eight or so nothing changes in 8 bits.
        private static let mostOctaves = 64
        /// Numbers of a filter's matrix, each a multiplication for each pixel. Above 400, some versions of librsvg end the
        /// process.
        private static let mostMatrixNumbers = 100
        /// Where an entity's name and its quote have to be found.
        private static let longestDeclaration = 4096

        /// Elements that are drawn because they are used. Maps and charts come to a few thousand.
        private static let mostUses = 100_000

        /// - Throws: `CodecError`: `.limitExceeded`, and `.damaged` for what hides from these checks.
        static func check(_ reader: ByteReader) throws {
            try checkEncoding(reader)
            let entities = try entityBytes(reader)
            guard entities <= mostEntityBytes else {
                throw CodecError.limitExceeded("bytes of entities", value: entities, limit: mostEntityBytes)
            }
            var elements = SVGUses(reader)
            let uses = elements.count()
            guard uses <= mostUses else {
                throw CodecError.limitExceeded("elements in use", value: uses, limit: mostUses)
            }
            try forEachValue(of: "numOctaves", in: reader) { value in
                try requireWrittenOut(value)
                let octaves = firstNumber(value)
                guard octaves <= mostOctaves else {
                    throw CodecError.limitExceeded("octaves of noise", value: octaves, limit: mostOctaves)
                }
            }
            try forEachValue(of: "kernelMatrix", in: reader) { value in
                try requireWrittenOut(value)
                let numbers = numberCount(value)
                guard numbers <= mostMatrixNumbers else {
                    throw CodecError.limitExceeded("numbers of a matrix", value: numbers, limit: mostMatrixNumbers)
                }
            }
            try checkInnerDocuments(reader)
        }

        /// A document in a `data:` address is packed, so that its text says nothing here. librsvg takes for one what is
        /// called so, and looks into what is called nothing.
        private static func checkInnerDocuments(_ reader: ByteReader) throws {
            try forEachValue(of: "href", in: reader) { value in
                try requireWrittenOut(value)
                var start = 0
                while let byte = value.byte(start), byte <= 0x20 { start += 1 }
                guard isLetters("data", value, at: start), value.byte(start + 4) == 0x3A else { return }
                let kind = value.part(at: start + 5, length: 64)
                let name = kind.part(at: 0, length: kind.firstIndex(of: 0x2C, from: 0) ?? 64)
                let isDrawing = (0..<name.count).contains { isLetters("svg", name, at: $0) }
                guard isLetters("image", name, at: 0), !isDrawing else {
                    throw damaged("there is another document inside of it")
                }
            }
        }

        /// - Throws: `CodecError.damaged` for references but those that stand for characters of XML itself.
        private static func requireWrittenOut(_ value: ByteReader) throws {
            let known: [StaticString] = ["amp;", "lt;", "gt;", "quot;", "apos;"]
            var position = 0
            while let found = value.firstIndex(of: 0x26, from: position) {
                position = found + 1
                guard known.contains(where: { value.matches($0, at: position) }) else {
                    throw damaged("a value is not written out")
                }
            }
        }

        /// Encodings in which what looks like a name may be none are left to nobody: UTF-7, those with escapes.
        private static func checkEncoding(_ reader: ByteReader) throws {
            let known: [StaticString] = [
                "utf-8", "utf8", "us-ascii", "ascii", "iso-8859", "windows-", "latin", "koi8", "shift_jis", "gb",
                "euc-",
                "big5",
            ]
            // The declaration stands in front, or nowhere.
            try forEachValue(of: "encoding", in: reader.part(at: 0, length: 512)) { value in
                guard known.contains(where: { isLetters($0, value, at: 0) }) else {
                    throw damaged("its encoding is not one that is read")
                }
            }
        }

        /// Whether this lowercase text stands there, in either case.
        private static func isLetters(_ text: StaticString, _ reader: ByteReader, at offset: Int) -> Bool {
            let length = text.utf8CodeUnitCount
            guard reader.has(length, at: offset) else { return false }
            return (0..<length).allSatisfy {
                let byte = reader.bytes[offset + $0]
                return ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == text.utf8Start[$0]
            }
        }

        /// The value behind every place where an attribute's name stands, be it in a comment.
        private static func forEachValue(
            of name: StaticString, in reader: ByteReader, _ body: (ByteReader) throws -> Void
        ) rethrows {
            let bytes = reader.bytes
            var position = 0
            while let found = reader.firstMatch(name, from: position) {
                // Not behind the value: what looks like one may reach over the next.
                position = found + name.utf8CodeUnitCount
                guard let sign = bytes[position...].firstIndex(where: { $0 > 0x20 }), bytes[sign] == 0x3D,
                    let quote = bytes[(sign + 1)...].firstIndex(where: { $0 > 0x20 }),
                    bytes[quote] == 0x22 || bytes[quote] == 0x27,
                    let end = reader.firstIndex(of: bytes[quote], from: quote + 1)
                else { continue }
                try body(reader.part(at: quote + 1, length: end - quote - 1))
            }
        }

        /// The bytes that all references to entities become, 0 where the document declares none.
        ///
        /// - Throws: `CodecError.damaged`.
        private static func entityBytes(_ reader: ByteReader) throws -> Int {
            var lengths: [[UInt8]: Int] = [:]
            var hidesElements = false
            var position = 0
            while let found = reader.firstMatch("<!ENTITY", from: position) {
                guard let (name, value) = declaration(reader, at: found + 8) else {
                    throw damaged("its entities cannot be read")
                }
                // Programs write names into entities, never elements.
                let text = reader.part(at: value.lowerBound, length: value.count)
                hidesElements =
                    hidesElements || text.firstIndex(of: 0x3C, from: 0) != nil || text.firstMatch("&#", from: 0) != nil
                // Those that it refers to stand before it; one that stands behind is counted as nothing, and libxml2's
                // own limit holds.
                lengths[name] = expanded(reader, value, lengths)
                position = value.upperBound
            }
            guard !lengths.isEmpty else { return 0 }
            let total = expanded(reader, position..<reader.count, lengths) - (reader.count - position)
            guard !hidesElements || total > mostEntityBytes else { throw damaged("its entities hide elements") }
            return total
        }

        /// Blanks, a name, blanks, and a value in quotes.
        private static func declaration(_ reader: ByteReader, at start: Int) -> (name: [UInt8], value: Range<Int>)? {
            let bytes = reader.bytes
            // Not up to the end, over and over, for one that is never closed.
            let limit = min(reader.count, start + longestDeclaration)
            guard let nameStart = bytes[start..<limit].firstIndex(where: { $0 > 0x20 }),
                let nameEnd = bytes[nameStart..<limit].firstIndex(where: { $0 <= 0x20 }),
                let quote = bytes[nameEnd..<limit].firstIndex(where: { $0 == 0x22 || $0 == 0x27 || $0 == 0x3E }),
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
                let next = reader.part(at: position, length: 257)
                guard let end = next.firstIndex(of: 0x3B, from: 0) else { continue }
                total = min(total + (lengths[Array(next.bytes[..<end])] ?? 0), 1 << 40)
            }
            return total
        }

        /// 0 where there is none.
        private static func firstNumber(_ value: ByteReader) -> Int {
            var number = 0
            var hasDigit = false
            for byte in value.bytes {
                if (0x30...0x39).contains(byte) {
                    number = min(number * 10 + Int(byte - 0x30), 1 << 40)
                    hasDigit = true
                } else if hasDigit {
                    break
                }
            }
            return number
        }

        /// At least as many as librsvg finds: they need nothing between them where a sign or a second point tells them
        /// apart.
        private static func numberCount(_ value: ByteReader) -> Int {
            var count = 0
            var isInNumber = false
            var hasPoint = false
            for byte in value.bytes {
                switch byte {
                // + and -, also of an exponent.
                case 0x2B, 0x2D:
                    count += 1
                    (isInNumber, hasPoint) = (true, false)
                case 0x2E:
                    if !isInNumber || hasPoint { count += 1 }
                    (isInNumber, hasPoint) = (true, true)
                case 0x30...0x39, 0x45, 0x65:
                    if !isInNumber { (count, hasPoint) = (count + 1, false) }
                    isInNumber = true
                default:
                    isInNumber = false
                }
            }
            return count
        }

        private static func damaged(_ reason: String) -> CodecError { .damaged(.svg, reason: reason) }
    }
#endif
