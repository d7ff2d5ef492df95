import Foundation
import HalcyonImage

/// The header of a WebP: the values of its chunks, read without libwebp.
struct WebPHeader {
    private(set) var info = ImageInfo(format: .webp, size: PixelSize(0, 0))
    private(set) var metadataByteCount = 0
    /// Whether the pixels are in frames on a canvas, even in a single one.
    private(set) var isAnimation = false
    private(set) var isLossless = false
    /// Whether the alpha of lossy pixels is compressed like a lossless image.
    private(set) var hasPackedAlpha = false
    /// Whether the pixels were reached. EXIF may still follow them.
    private(set) var hasReachedPixels = false
    /// Whether there is EXIF that has not been read.
    var lacksExif: Bool { declaresExif && !hasExif }
    private var declaresExif = false
    private var declaresProfile = false
    private var hasExif = false
    /// The length in bytes that the file declares.
    private(set) var declaredBytes = 0
    /// Whether the file is shorter than it declares. Some writers omit the last byte if it is padding.
    private(set) var isCut = false
    private(set) var colorProfile: ColorProfile?
    private var hasCanvas = false
    private var frameCount = 0
    private var playCount = 0

    /// The maximum number of chunks, higher than the default limit on frames. An empty chunk takes eight bytes.
    private static let maximumChunks = 200_000

    /// The flag bits of a VP8X chunk.
    private enum Flag {
        static let animation = 0x02
        static let exif = 0x08
        static let alpha = 0x10
        static let profile = 0x20
    }

    /// - Throws: `CodecError.damaged` if no chunk declares a size, or there are too many chunks.
    init(_ bytes: ByteReader) throws {
        declaredBytes = Self.declaredBytes(bytes)
        isCut = declaredBytes > bytes.count + 1
        let reader = Self.content(of: bytes)
        var offset = 12
        var chunkCount = 0
        while reader.has(8, at: offset), let length = reader.littleEndian32(offset + 4) {
            chunkCount += 1
            guard chunkCount <= Self.maximumChunks else {
                throw CodecError.damaged(.webp, reason: "it has more than \(Self.maximumChunks) chunks")
            }
            let chunk = reader.part(at: offset, length: 8 + length)
            // libwebp accepts a VP8X chunk only at this position. Anywhere else it would declare a size that the
            // pixels do not have.
            if offset == 12, chunk.matches("VP8X", at: 0) { readCanvas(chunk.part(at: 8, length: length)) }
            read(chunk, declaredLength: length)
            // A step is at most 2^32, so the offset cannot overflow before the data ends.
            offset += 8 + length + length % 2
        }
        guard !info.size.isEmpty else {
            throw CodecError.damaged(.webp, reason: "its header is incomplete")
        }
        info.size = info.orientation.applied(to: info.size)
        info.frameCount = max(1, frameCount)
        info.loopCount = frameCount > 1 ? playCount : nil
    }

    private static func declaredBytes(_ file: ByteReader) -> Int { (file.littleEndian32(4) ?? 0) + 8 }

    /// Returns the file without the bytes behind its declared end, where programs append other files. These are no chunks.
    static func content(of file: ByteReader) -> ByteReader { file.part(at: 0, length: declaredBytes(file)) }

    private mutating func read(_ chunk: ByteReader, declaredLength: Int) {
        let body = chunk.part(at: 8, length: declaredLength)
        if ["VP8 ", "VP8L", "ALPH", "ANMF"].contains(where: { chunk.matches($0, at: 0) }), body.has(10, at: 0) {
            hasReachedPixels = true
        }
        if chunk.matches("VP8X", at: 0) {
            return
        } else if chunk.matches("VP8 ", at: 0) {
            readLossy(body)
        } else if chunk.matches("VP8L", at: 0) {
            readLossless(body)
        } else if chunk.matches("ALPH", at: 0) {
            info.hasAlpha = true
            // The lowest two bits are the compression method: 0 is uncompressed.
            hasPackedAlpha = (body.byte(0) ?? 0) & 3 != 0
        } else if chunk.matches("ANIM", at: 0) {
            playCount = body.littleEndian16(4) ?? 0
        } else if chunk.matches("ANMF", at: 0) {
            readFrame(body)
        } else {
            readMetadata(chunk, body: body)
            metadataByteCount += declaredLength
        }
    }

    private mutating func readMetadata(_ chunk: ByteReader, body: ByteReader) {
        // libwebp also ignores EXIF and profiles that the canvas does not announce, and a progressive decode would not
        // wait for EXIF behind the pixels.
        if chunk.matches("EXIF", at: 0), declaresExif {
            info.orientation = Exif.orientation(in: body)
            hasExif = true
        } else if chunk.matches("ICCP", at: 0), declaresProfile {
            info.colorSpace = .icc(ICCProfile.name(of: body))
            if colorProfile == nil { colorProfile = .icc(Data(body.bytes), .rgb) }
        }
    }

    private mutating func readCanvas(_ body: ByteReader) {
        guard let flags = body.byte(0), let width = body.littleEndian24(4), let height = body.littleEndian24(7)
        else {
            return
        }
        hasCanvas = true
        isAnimation = flags & Flag.animation != 0
        declaresExif = flags & Flag.exif != 0
        declaresProfile = flags & Flag.profile != 0
        if flags & Flag.alpha != 0 { info.hasAlpha = true }
        info.size = PixelSize(width + 1, height + 1)
    }

    private mutating func readFrame(_ body: ByteReader) {
        guard isAnimation, body.has(16, at: 0) else { return }
        frameCount += 1
        guard frameCount == 1, let width = body.littleEndian24(6), let height = body.littleEndian24(9) else {
            return
        }
        // Around a first frame that is smaller than the canvas, the canvas is transparent.
        if PixelSize(width + 1, height + 1) != info.size { info.hasAlpha = true }
    }

    private mutating func readLossy(_ body: ByteReader) {
        guard !hasCanvas, info.size.isEmpty, body.matches([0x9D, 0x01, 0x2A], at: 3),
            let width = body.littleEndian16(6), let height = body.littleEndian16(8)
        else { return }
        // The upper two bits are a scale that decoders ignore.
        info.size = PixelSize(width & 0x3FFF, height & 0x3FFF)
    }

    private mutating func readLossless(_ body: ByteReader) {
        guard body.byte(0) == 0x2F, let bits = body.littleEndian32(1) else { return }
        isLossless = true
        if bits >> 28 & 1 != 0 { info.hasAlpha = true }
        guard !hasCanvas, info.size.isEmpty else { return }
        info.size = PixelSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    }
}
