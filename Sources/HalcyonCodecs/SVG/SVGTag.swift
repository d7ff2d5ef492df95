#if SVG
    /// One tag of a document, as much of it as tells what it costs.
    struct SVGTag {
        enum Kind {
            case start, end, empty
            /// A comment, an instruction, a declaration, or text that stands for itself.
            case other
        }

        let kind: Kind
        /// Behind its bracket.
        let end: Int
        private let reader: ByteReader

        /// Nil where it never ends.
        init?(_ reader: ByteReader, at start: Int) {
            let closing: (text: StaticString, skips: Int)? =
                reader.matches("<!--", at: start)
                ? ("-->", 4) : reader.matches("<![CDATA[", at: start) ? ("]]>", 9) : nil
            if let closing {
                guard let found = reader.firstMatch(closing.text, from: start + closing.skips) else { return nil }
                (kind, end, self.reader) = (.other, found + 3, reader.part(at: start, length: 0))
                return
            }
            guard let bracket = Self.bracket(reader, from: start + 1) else { return nil }
            end = bracket + 1
            self.reader = reader.part(at: start, length: end - start)
            switch reader.byte(start + 1) {
            case 0x21, 0x3F: kind = .other
            case 0x2F: kind = .end
            default: kind = reader.byte(bracket - 1) == 0x2F ? .empty : .start
            }
        }

        /// The bracket that ends the tag: one in quotes does not.
        private static func bracket(_ reader: ByteReader, from start: Int) -> Int? {
            var position = start
            while let byte = reader.byte(position) {
                if byte == 0x3E { return position }
                if byte == 0x22 || byte == 0x27 {
                    guard let quote = reader.firstIndex(of: UInt8(byte), from: position + 1) else { return nil }
                    position = quote
                }
                position += 1
            }
            return nil
        }

        /// Whatever prefix it has.
        var isUse: Bool {
            let name = reader.bytes.dropFirst().prefix { $0 > 0x20 && $0 != 0x2F && $0 != 0x3E }
            return name.elementsEqual("use".utf8) || name.suffix(4).elementsEqual(":use".utf8)
        }

        /// The value of an attribute of this name, whatever prefix it has.
        func attribute(_ name: StaticString) -> [UInt8]? {
            var position = 0
            while let found = reader.firstMatch(name, from: position) {
                position = found + name.utf8CodeUnitCount
                guard let before = reader.byte(found - 1), before <= 0x20 || before == 0x3A else { continue }
                while let byte = reader.byte(position), byte <= 0x20 { position += 1 }
                guard reader.byte(position) == 0x3D else { continue }
                position += 1
                while let byte = reader.byte(position), byte <= 0x20 { position += 1 }
                guard let quote = reader.byte(position), quote == 0x22 || quote == 0x27,
                    let end = reader.firstIndex(of: UInt8(quote), from: position + 1)
                else { return nil }
                return Array(reader.bytes[position + 1..<end])
            }
            return nil
        }
    }
#endif
