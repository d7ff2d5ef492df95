import CWebP
import Foundation
import HalcyonImage
import HalcyonSystem

extension WebPCoder: AnimatedImageDecoder {
    package func frames(of data: Data, info: ImageInfo) throws -> any FrameReader {
        let entries = data.read { WebPFrameEntry.all(in: $0, canvas: info.storedSize) }
        guard !entries.isEmpty else { throw CodecError.damaged(.webp, reason: "it has no complete frame") }
        return WebPFrameReader(data: data, entries: entries)
    }
}

/// The chunk of one frame in an animated WebP.
struct WebPFrameEntry {
    let frame: AnimationFrame
    /// The range of the frame's own chunks, which follow the 16 bytes of its header.
    let payload: Range<Int>
    let hasAlpha: Bool
    /// The size in the header of the pixels; nil if there is no such header.
    private let codedSize: PixelSize?

    /// Whether the size of the pixels is that of the frame's rectangle. libwebp would unpack a part of a larger
    /// image before it refuses it.
    var isTrue: Bool { codedSize == frame.rect.size }

    /// Returns the frames that are complete and lie on the canvas.
    static func all(in file: ByteReader, canvas: PixelSize) -> [WebPFrameEntry] {
        let reader = WebPHeader.content(of: file)
        var entries: [WebPFrameEntry] = []
        var offset = 12
        while reader.has(8, at: offset), let length = reader.littleEndian32(offset + 4) {
            if reader.matches("ANMF", at: offset), reader.has(length, at: offset + 8),
                let entry = WebPFrameEntry(reader.part(at: offset + 8, length: length), at: offset + 8),
                entry.frame.rect.clamped(to: canvas) == entry.frame.rect
            {
                entries.append(entry)
            }
            offset += 8 + length + length % 2
        }
        return entries
    }

    private init?(_ body: ByteReader, at offset: Int) {
        guard let x = body.littleEndian24(0), let y = body.littleEndian24(3), let width = body.littleEndian24(6),
            let height = body.littleEndian24(9), let duration = body.littleEndian24(12), let flags = body.byte(15)
        else { return nil }
        frame = AnimationFrame(
            rect: PixelRect(x: x * 2, y: y * 2, width: width + 1, height: height + 1),
            duration: .milliseconds(duration), disposal: flags & 1 != 0 ? .clear : .keep,
            blend: flags & 2 != 0 ? .replace : .over)
        payload = offset + 16..<offset + body.count
        let isLossless = body.matches("VP8L", at: 16)
        // The alpha bit follows the signature's byte and the two sizes of 14 bits.
        let bits = isLossless ? body.littleEndian32(25) ?? 0 : 0
        codedSize = Self.codedSize(body)
        hasAlpha = isLossless ? bits >> 28 & 1 != 0 : body.matches("ALPH", at: 16)
    }

    /// Returns the size in the first chunk of pixels, which may be preceded by alpha.
    private static func codedSize(_ body: ByteReader) -> PixelSize? {
        var offset = 16
        if body.matches("ALPH", at: offset), let length = body.littleEndian32(offset + 4) {
            offset += 8 + length + length % 2
        }
        if body.matches("VP8L", at: offset), body.byte(offset + 8) == 0x2F {
            return body.littleEndian32(offset + 9).map { PixelSize(($0 & 0x3FFF) + 1, ($0 >> 14 & 0x3FFF) + 1) }
        }
        guard body.matches("VP8 ", at: offset), let width = body.littleEndian16(offset + 14),
            let height = body.littleEndian16(offset + 16)
        else { return nil }
        return PixelSize(width & 0x3FFF, height & 0x3FFF)
    }
}

/// The frames of an animated WebP, each decoded on its own.
struct WebPFrameReader: FrameReader {
    let frames: [AnimationFrame]
    private let data: Data
    private let entries: [WebPFrameEntry]

    init(data: Data, entries: [WebPFrameEntry]) {
        self.data = data
        self.entries = entries
        frames = entries.map(\.frame)
    }

    func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
        let entry = entries[index]
        let size = entry.frame.rect.size
        guard entry.isTrue else {
            throw CodecError.damaged(.webp, reason: "the size of a frame's pixels differs from its rectangle")
        }
        return try Bitmap(size: size, isOpaque: !entry.hasAlpha) { pixels in
            let output = WebPOutput(
                pixels: pixels, bytesPerRow: size.width * 4, size: size, isScaled: false, hasAlpha: entry.hasAlpha)
            try data.withUnsafeBytes { bytes in
                try output.decode(UnsafeRawBufferPointer(rebasing: bytes[entry.payload]), context: context)
            }
        }
    }
}

/// Decodes the first frame of an animated WebP, on its canvas.
///
/// The canvas is transparent around the frame, as in browsers: the background colour of the file is only a hint. A
/// file whose later frames are truncated still yields its first one, as with GIF.
enum WebPFirstFrame {
    static func decode(_ data: Data, canvas: PixelSize, context: WorkContext) throws -> Bitmap {
        let first = data.read { WebPFrameEntry.all(in: $0, canvas: canvas) }.first
        guard first?.isTrue != false else {
            throw damaged("the size of a frame's pixels differs from its rectangle")
        }
        return try data.withUnsafeBytes { bytes in
            var source = WebPData(
                bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
            guard let demuxer = WebPDemuxPartial(&source, nil) else { throw damaged("its frames cannot be found") }
            defer { WebPDemuxDelete(demuxer) }
            var frame = WebPIterator()
            guard WebPDemuxGetFrame(demuxer, 1, &frame) != 0 else { throw damaged("it has no complete frame") }
            defer { WebPDemuxReleaseIterator(&frame) }
            guard frame.complete != 0 else { throw damaged("its first frame was cut off") }
            return try decode(frame, canvas: canvas, context: context)
        }
    }

    private static func decode(_ frame: WebPIterator, canvas: PixelSize, context: WorkContext) throws -> Bitmap {
        let (left, top) = (Int(frame.x_offset), Int(frame.y_offset))
        let size = PixelSize(Int(frame.width), Int(frame.height))
        guard left >= 0, top >= 0, !size.isEmpty, left <= canvas.width - size.width,
            top <= canvas.height - size.height
        else { throw damaged("its first frame lies outside the canvas") }
        let isWhole = size == canvas
        let hasAlpha = frame.has_alpha != 0
        return try Bitmap(size: canvas, isOpaque: isWhole && !hasAlpha) { pixels in
            if !isWhole { pixels.initializeMemory(as: UInt8.self, repeating: 0) }
            let start = (top * canvas.width + left) * 4
            let output = WebPOutput(
                pixels: UnsafeMutableRawBufferPointer(rebasing: pixels[start...]), bytesPerRow: canvas.width * 4,
                size: size, isScaled: false, hasAlpha: hasAlpha)
            let fragment = UnsafeRawBufferPointer(start: frame.fragment.bytes, count: frame.fragment.size)
            try output.decode(fragment, context: context)
        }
    }

    private static func damaged(_ reason: String) -> CodecError { .damaged(.webp, reason: reason) }
}
