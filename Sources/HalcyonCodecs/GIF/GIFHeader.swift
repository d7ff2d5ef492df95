import HalcyonImage

/// The location of one frame in a GIF, and the values of its descriptor and control extension.
struct GIFFrameEntry {
    /// The offset of the byte that begins the descriptor.
    let offset: Int
    /// The visible rectangle on the canvas; nil for a frame that lies outside it.
    var rect: PixelRect?
    /// The delay in hundredths of a second.
    let delay: Int
    let disposal: Int
    let transparentIndex: Int?
    /// The part of the data that is missing.
    let missing: Missing?

    enum Missing {
        /// The terminator, and perhaps pixels.
        case end
        /// A part of a sub-block.
        case data
    }
}

/// The contents of the blocks of a GIF, read without decoding pixels.
struct GIFHeader {
    /// The size of the canvas, enlarged if the first frame reaches beyond it, as in browsers.
    private(set) var size: PixelSize
    private(set) var frameCount = 0
    private(set) var hasAlpha = false
    private(set) var metadataByteCount = 0
    /// The pixels that are unpacked: each frame at its own size, however little of it lies on the canvas.
    private(set) var extent = CodedExtent(largest: PixelSize(0, 0), totalPixels: 0)
    /// The loop count as stored in the file: 0 is infinite. Nil without the extension, which means one play.
    private var loopCount: Int?
    /// The graphic control extension that precedes the next frame.
    private var control: (flags: Int, delay: Int, transparentIndex: Int) = (0, 0, 0)
    /// Whether the file ends within an extension, behind which there may have been frames.
    private(set) var endsInExtension = false
    private let keepsFrames: Bool
    /// The frames, of which the data of the last one may be cut off; the first one alone unless `keepsFrames` was set.
    private(set) var frames: [GIFFrameEntry] = []

    /// Reads all blocks.
    ///
    /// - Parameter keepsFrames: whether `frames` has all frames, which takes memory for each.
    /// - Throws: `CodecError.damaged` if the data ends before the first frame's descriptor does.
    init(_ reader: ByteReader, keepsFrames: Bool = false) throws {
        guard let width = reader.littleEndian16(6), let height = reader.littleEndian16(8),
            let flags = reader.byte(10)
        else { throw Self.damaged("its header is cut off") }
        size = PixelSize(width, height)
        self.keepsFrames = keepsFrames
        var offset = 13 + Self.paletteByteCount(flags)
        // The trailer, or a byte that begins no block, ends the file, as in browsers.
        while let next = readBlock(reader, at: offset) { offset = next }
        endsInExtension = reader.byte(offset) == 0x21
        guard frameCount > 0 else { throw Self.damaged("it has no frame") }
        guard !size.isEmpty else { throw Self.damaged("its size is zero") }
    }

    /// The description of the image. Some programs take a file's loop count of N to mean N plays, others N + 1.
    /// Here it is the file's own number; without the extension a GIF plays once.
    var info: ImageInfo {
        ImageInfo(
            format: .gif, size: size, frameCount: frameCount, loopCount: frameCount > 1 ? loopCount ?? 1 : nil,
            hasAlpha: hasAlpha)
    }

    /// Reads one block.
    ///
    /// - Returns: the offset of the next block; nil at the end.
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
            // The area around a first frame that is smaller than the canvas is transparent.
            if PixelSize(width, height) != size { hasAlpha = true }
        }
        if control.flags & 1 != 0 { hasAlpha = true }
        let frame = PixelSize(width, height)
        let isSeen = PixelRect(x: left, y: top, width: width, height: height).clamped(to: size) != nil
        extent.add(isSeen ? frame : size, pixels: max(isSeen ? width * height : 0, size.area ?? .max))
        defer { control = (0, 0, 0) }
        // The minimum code size follows the palette.
        let data = offset + 9 + Self.paletteByteCount(flags) + 1
        let end = Self.endOfSubBlocks(reader, at: data)
        if keepsFrames || frames.isEmpty {
            let rect = PixelRect(x: left, y: top, width: width, height: height)
            frames.append(entry(at: offset - 1, rect, missing: end == nil ? Self.missing(reader, at: data) : nil))
        }
        return end
    }

    private func entry(at offset: Int, _ rect: PixelRect, missing: GIFFrameEntry.Missing?) -> GIFFrameEntry {
        GIFFrameEntry(
            offset: offset, rect: rect.clamped(to: size), delay: control.delay, disposal: control.flags >> 2 & 7,
            transparentIndex: control.flags & 1 != 0 ? control.transparentIndex : nil, missing: missing)
    }

    static func paletteByteCount(_ flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1)
    }

    /// Returns the offset after a sequence of sub-blocks, which each begin with their length and end with an empty
    /// one; nil if the data ends first.
    private static func endOfSubBlocks(_ reader: ByteReader, at offset: Int) -> Int? {
        var offset = offset
        while let length = reader.byte(offset) {
            offset += 1 + length
            if length == 0 { return offset }
        }
        return nil
    }

    /// Returns what is missing of sub-blocks whose end is. In the place of a terminator, the file's trailer looks like a
    /// length.
    private static func missing(_ reader: ByteReader, at offset: Int) -> GIFFrameEntry.Missing {
        var offset = offset
        while let length = reader.byte(offset) {
            if length == 0x3B, offset + 1 == reader.count { return .end }
            offset += 1 + length
        }
        return offset == reader.count ? .end : .data
    }

    /// Returns the frames that are there. The terminator of the last one may be missing, but none of its pixels.
    static func wholeFrames(_ reader: ByteReader) throws -> [GIFFrameEntry] {
        let frames = try GIFHeader(reader, keepsFrames: true).frames
        guard let last = frames.last, let missing = last.missing else { return frames }
        let isThere = missing == .end && (try? GIFFrame(last, in: reader).isComplete) == true
        return isThere ? frames : frames.dropLast()
    }

    private static func damaged(_ reason: String) -> CodecError { .damaged(.gif, reason: reason) }
}
