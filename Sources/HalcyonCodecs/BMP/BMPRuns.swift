#if BMP
    import HalcyonImage
    import HalcyonSystem

    /// Rows that are stored as runs of one colour, or of two in turn.
    struct BMPRuns {
        private let reader: ByteReader
        private let header: BMPHeader
        private var offset: Int
        private var x = 0
        private var row = 0

        /// - Throws: `CodecError.damaged` where the runs end before the image does, `CancellationError`.
        static func decode(
            _ reader: ByteReader, header: BMPHeader, into canvas: inout BMPCanvas, context: WorkContext
        ) throws {
            canvas.pixels.update(repeating: header.palette[0])
            var runs = BMPRuns(reader: reader, header: header, offset: header.pixelOffset)
            var steps = 0
            // Behind the last row nothing is missed, not even the mark of the end.
            while runs.row < canvas.height {
                if steps % 4096 == 0 { try context.checkCancellation() }
                steps += 1
                guard try runs.readRun(into: canvas) else { return }
            }
        }

        private init(reader: ByteReader, header: BMPHeader, offset: Int) {
            self.reader = reader
            self.header = header
            self.offset = offset
        }

        /// - Returns: false at the mark of the end.
        private mutating func readRun(into canvas: BMPCanvas) throws -> Bool {
            let (count, value) = (try next(), try next())
            if count > 0 {
                for index in 0..<count { put(color(of: value, at: index), into: canvas) }
                return true
            }
            switch value {
            case 0:
                x = 0
                row += 1
            case 1: return false
            case 2:
                x += try next()
                row += try next()
            default: try readLiterals(value, into: canvas)
            }
            return true
        }

        private mutating func readLiterals(_ count: Int, into canvas: BMPCanvas) throws {
            let perByte = 8 / header.bits
            var byte = 0
            for index in 0..<count {
                if index % perByte == 0 { byte = try next() }
                put(color(of: byte, at: index), into: canvas)
            }
            // They are filled up to whole words.
            let bytes = (count + perByte - 1) / perByte
            if bytes % 2 == 1 { _ = try next() }
        }

        private func color(of byte: Int, at index: Int) -> UInt32 {
            guard header.bits == 4 else { return header.palette[byte] }
            return header.palette[index % 2 == 0 ? byte >> 4 : byte & 15]
        }

        /// What goes beyond the row is dropped.
        private mutating func put(_ color: UInt32, into canvas: BMPCanvas) {
            if x < canvas.width, row < canvas.height { canvas.pixels[canvas.start(ofRow: row) + x] = color }
            x += 1
        }

        private mutating func next() throws -> Int {
            guard let byte = reader.byte(offset) else { throw BMPHeader.damaged("the file was cut off") }
            offset += 1
            return byte
        }
    }
#endif
