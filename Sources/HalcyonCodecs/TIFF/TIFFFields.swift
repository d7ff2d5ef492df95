#if TIFF
    /// A reader of the numbers of a TIFF, in the byte order and the width of offsets that its first bytes declare.
    struct TIFFFields {
        private let reader: ByteReader
        private let isLittleEndian: Bool
        /// Whether offsets and counts have 8 bytes, as in BigTIFF.
        private let isBig: Bool
        /// The offset of the first directory.
        private(set) var firstDirectory: Int

        /// The maximum number of entries that are read. Tags are sorted, and those that are needed come early; a
        /// hostile directory may claim 65,535 entries.
        private static let maximumEntries = 128

        init?(_ reader: ByteReader) {
            self.reader = reader
            isLittleEndian = reader.matches("II", at: 0)
            let magic = isLittleEndian ? reader.littleEndian16(2) : reader.bigEndian16(2)
            isBig = magic == 43
            let short = isLittleEndian ? reader.littleEndian32(4) : reader.bigEndian32(4)
            guard let short else { return nil }
            firstDirectory = short
            if isBig {
                guard let offset = number(8, bytes: 8) else { return nil }
                firstDirectory = offset
            }
        }

        /// Returns the directory at an offset, or nil if it is truncated.
        func directory(at offset: Int) -> TIFFDirectory? {
            let (countBytes, entryBytes) = isBig ? (8, 20) : (2, 12)
            guard reader.has(countBytes, at: offset), let count = number(offset, bytes: countBytes), count > 0 else {
                return nil
            }
            let entries = offset + countBytes
            let (length, overflow) = count.multipliedReportingOverflow(by: entryBytes)
            guard !overflow, reader.has(length, at: entries) else { return nil }
            var directory = TIFFDirectory(offset: offset)
            for index in 0..<min(count, Self.maximumEntries) {
                readEntry(at: entries + index * entryBytes, into: &directory)
            }
            directory.next = number(entries + length, bytes: isBig ? 8 : 4) ?? 0
            return directory
        }

        private func readEntry(at offset: Int, into directory: inout TIFFDirectory) {
            guard let tag = number(offset, bytes: 2), let kind = number(offset + 2, bytes: 2),
                let count = number(offset + 4, bytes: isBig ? 8 : 4), count > 0
            else { return }
            let place = offset + (isBig ? 12 : 8)
            let inline = isBig ? 8 : 4
            let width = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 13: 4, 16: 8][kind] ?? 8
            let start = count <= inline / width ? place : number(place, bytes: inline) ?? -1
            directory.set(tag, to: number(start, bytes: width), count: count, start: start)
        }

        /// Returns the number at an offset; nil outside of the file, negative beyond 2^63.
        private func number(_ offset: Int, bytes: Int) -> Int? {
            switch bytes {
            case 1: return reader.byte(offset)
            case 2: return isLittleEndian ? reader.littleEndian16(offset) : reader.bigEndian16(offset)
            case 4: return isLittleEndian ? reader.littleEndian32(offset) : reader.bigEndian32(offset)
            default:
                guard reader.has(8, at: offset), let first = number(offset, bytes: 4),
                    let second = number(offset + 4, bytes: 4)
                else { return nil }
                return isLittleEndian ? second << 32 | first : first << 32 | second
            }
        }

        func part(at offset: Int, length: Int) -> ByteReader { reader.part(at: offset, length: length) }
    }
#endif
