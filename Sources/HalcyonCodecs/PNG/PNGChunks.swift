#if PNG
    /// The chunks of a PNG one after the other, as far as the data goes. Checksums are libpng's business.
    struct PNGChunks: Sequence, IteratorProtocol {
        struct Chunk {
            /// The data from the chunk's name on.
            fileprivate let named: ByteReader
            let declaredLength: Int
            /// Of the chunk's length field in the file.
            let offset: Int

            /// Shorter than declared where the data ends.
            var body: ByteReader { named.part(at: 4, length: declaredLength) }

            /// In the file; longer than `body` where the data ends.
            var bodyRange: Range<Int> { offset + 8..<offset + 8 + declaredLength }
            /// Behind the checksum.
            var end: Int { offset + 12 + declaredLength }

            func isNamed(_ name: StaticString) -> Bool { named.matches(name, at: 0) }
        }

        private let reader: ByteReader
        private var offset: Int

        /// - Parameter offset: of a chunk; by default of the first.
        init(_ reader: ByteReader, from offset: Int = 8) {
            self.reader = reader
            self.offset = offset
        }

        mutating func next() -> Chunk? {
            guard let length = reader.bigEndian32(offset), reader.has(8, at: offset) else { return nil }
            let named = reader.part(at: offset + 4, length: 4 + length)
            // At most 2^32 a step, so this cannot overflow before the data ends.
            defer { offset += 12 + length }
            return Chunk(named: named, declaredLength: length, offset: offset)
        }
    }
#endif
