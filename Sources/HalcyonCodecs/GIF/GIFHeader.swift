#if GIF
    import HalcyonImage

    /// Where one frame of a GIF stands, and what was said of it.
    struct GIFFrameEntry {
        /// Of the byte that begins its descriptor.
        let offset: Int
        /// On the canvas; nil for a frame that lies outside of it.
        var rect: PixelRect?
        /// In hundredths of a second.
        let delay: Int
        let disposal: Int
        let transparentIndex: Int?
    }

    /// What the blocks of a GIF say, read without giflib and without unpacking a pixel.
    struct GIFHeader {
        /// The canvas, enlarged where the first frame reaches beyond it, as browsers do.
        private(set) var size: PixelSize
        private(set) var frameCount = 0
        private(set) var hasAlpha = false
        private(set) var metadataByteCount = 0
        /// The pixels that giflib unpacks: each frame at its own size, however little of it lies on the canvas.
        private(set) var extent = CodedExtent(largest: PixelSize(0, 0), totalPixels: 0)
        /// The file's own number: 0 is for ever. Nil without the extension, which means once.
        private var loopCount: Int?
        /// The graphic control extension that stands before the next frame.
        private var control: (flags: Int, delay: Int, transparentIndex: Int) = (0, 0, 0)
        private let keepsFrames: Bool
        /// Those whose data is there up to its end; empty unless they were asked for.
        private(set) var frames: [GIFFrameEntry] = []
        /// Bytes up to and with the global palette.
        let headByteCount: Int

        /// - Throws: `CodecError.damaged` where the data ends before the first frame's descriptor does.
        ///
        /// - Parameter keepsFrames: whether `frames` is wanted, which grows with their number.
        init(_ reader: ByteReader, keepsFrames: Bool = false) throws {
            guard let width = reader.littleEndian16(6), let height = reader.littleEndian16(8),
                let flags = reader.byte(10)
            else { throw Self.damaged("its header is cut off") }
            size = PixelSize(width, height)
            self.keepsFrames = keepsFrames
            headByteCount = 13 + Self.paletteByteCount(flags)
            var offset = headByteCount
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
                if let flags = reader.byte(start + 1) {
                    control = (flags, reader.littleEndian16(start + 2) ?? 0, reader.byte(start + 4) ?? 0)
                }
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
            if control.flags & 1 != 0 { hasAlpha = true }
            let frame = PixelSize(width, height)
            let isSeen = PixelRect(x: left, y: top, width: width, height: height).clamped(to: size) != nil
            extent.add(isSeen ? frame : size, pixels: max(isSeen ? width * height : 0, size.area ?? .max))
            defer { control = (0, 0, 0) }
            // Behind the palette stands the size of the first codes.
            let end = Self.endOfSubBlocks(reader, at: offset + 9 + Self.paletteByteCount(flags) + 1)
            if keepsFrames, end != nil {
                frames.append(entry(at: offset - 1, PixelRect(x: left, y: top, width: width, height: height)))
            }
            return end
        }

        private func entry(at offset: Int, _ rect: PixelRect) -> GIFFrameEntry {
            GIFFrameEntry(
                offset: offset, rect: rect.clamped(to: size), delay: control.delay, disposal: control.flags >> 2 & 7,
                transparentIndex: control.flags & 1 != 0 ? control.transparentIndex : nil)
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
