#if GIF
    import HalcyonImage

    /// What the blocks of a GIF say, read without giflib and without unpacking a pixel.
    struct GIFHeader {
        /// The canvas, enlarged where the first frame reaches beyond it, as browsers do.
        private(set) var size: PixelSize
        private(set) var frameCount = 0
        private(set) var hasAlpha = false
        private(set) var metadataByteCount = 0
        /// The file's own number: 0 is for ever. Nil without the extension, which means once.
        private var loopCount: Int?
        /// Of the graphic control extension that stands before the next frame.
        private var isNextTransparent = false

        /// - Throws: `CodecError.damaged` where the data ends before the first frame's descriptor does.
        init(_ reader: ByteReader) throws {
            guard let width = reader.littleEndian16(6), let height = reader.littleEndian16(8),
                let flags = reader.byte(10)
            else { throw Self.damaged("its header is cut off") }
            size = PixelSize(width, height)
            var offset = 13 + Self.paletteByteCount(flags)
            // Trailing bytes, or a byte that begins no block, end the file, as they do in browsers.
            while let next = readBlock(reader, at: offset) { offset = next }
            guard frameCount > 0 else { throw Self.damaged("it has no frame") }
            guard !size.isEmpty else { throw Self.damaged("its size is zero") }
        }

        /// A file's loop count N is said by some programs to mean N plays and by others N + 1. Here it is the file's
        /// own number; without the extension a GIF plays once.
        var info: ImageInfo {
            ImageInfo(
                format: .gif, size: size, frameCount: frameCount, loopCount: frameCount > 1 ? loopCount ?? 1 : nil,
                hasAlpha: hasAlpha)
        }

        /// - Returns: where the next block begins, nil at the end.
        private mutating func readBlock(_ reader: ByteReader, at offset: Int) -> Int? {
            switch reader.byte(offset) {
            case 0x21: readExtension(reader, at: offset + 1)
            case 0x2C: readFrame(reader, at: offset + 1)
            default: nil
            }
        }

        private mutating func readExtension(_ reader: ByteReader, at offset: Int) -> Int? {
            guard let label = reader.byte(offset) else { return nil }
            let start = offset + 1
            switch label {
            case 0xF9:
                if let flags = reader.byte(start + 1) { isNextTransparent = flags & 1 != 0 }
            case 0xFF
            where reader.matches("NETSCAPE2.0", at: start + 1) || reader.matches("ANIMEXTS1.0", at: start + 1):
                if reader.byte(start + 13) == 1, let count = reader.littleEndian16(start + 14) { loopCount = count }
            default:
                break
            }
            let end = Self.endOfSubBlocks(reader, at: start)
            metadataByteCount += (end ?? reader.count) - start
            return end
        }

        private mutating func readFrame(_ reader: ByteReader, at offset: Int) -> Int? {
            guard let left = reader.littleEndian16(offset), let top = reader.littleEndian16(offset + 2),
                let width = reader.littleEndian16(offset + 4), let height = reader.littleEndian16(offset + 6),
                let flags = reader.byte(offset + 8)
            else { return nil }
            frameCount += 1
            if frameCount == 1 {
                size = PixelSize(max(size.width, left + width), max(size.height, top + height))
                // Around a first frame that is smaller than the canvas there is nothing.
                if PixelSize(width, height) != size { hasAlpha = true }
            }
            if isNextTransparent { hasAlpha = true }
            isNextTransparent = false
            // Behind the palette stands the size of the first codes.
            return Self.endOfSubBlocks(reader, at: offset + 9 + Self.paletteByteCount(flags) + 1)
        }

        private static func paletteByteCount(_ flags: Int) -> Int {
            flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1)
        }

        /// Steps over blocks that each begin with their length, up to and over the empty one.
        private static func endOfSubBlocks(_ reader: ByteReader, at offset: Int) -> Int? {
            var offset = offset
            while let length = reader.byte(offset) {
                offset += 1 + length
                if length == 0 { return offset }
            }
            return nil
        }

        private static func damaged(_ reason: String) -> CodecError { .damaged(.gif, reason: reason) }
    }
#endif
