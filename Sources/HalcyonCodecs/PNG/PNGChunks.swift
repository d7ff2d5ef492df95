#if PNG
    /// The chunks of a PNG one after the other, up to the end of the data. Checksums are left to libpng.
    struct PNGChunks: Sequence, IteratorProtocol {
        struct Chunk {
            /// The data that begins with the chunk's name.
            fileprivate let named: ByteReader
            let declaredLength: Int
            /// The offset of the chunk's length field in the file.
            let offset: Int

            /// The body of the chunk, shorter than declared if the data ends before.
            var body: ByteReader { named.part(at: 4, length: declaredLength) }

            /// The range of the body in the file; longer than `body` if the data ends before.
            var bodyRange: Range<Int> { offset + 8..<offset + 8 + declaredLength }
            /// The offset behind the checksum.
            var end: Int { offset + 12 + declaredLength }

            func isNamed(_ name: StaticString) -> Bool { named.matches(name, at: 0) }
        }

        private let reader: ByteReader
        private var offset: Int

        /// - Parameter offset: the offset of the first chunk to return; that of the file's first chunk by default.
        init(_ reader: ByteReader, from offset: Int = 8) {
            self.reader = reader
            self.offset = offset
        }

        mutating func next() -> Chunk? {
            guard let length = reader.bigEndian32(offset), reader.has(8, at: offset) else { return nil }
            let named = reader.part(at: offset + 4, length: 4 + length)
            // A step is at most 2^32, so the offset cannot overflow before the data ends.
            defer { offset += 12 + length }
            return Chunk(named: named, declaredLength: length, offset: offset)
        }
    }
#endif
