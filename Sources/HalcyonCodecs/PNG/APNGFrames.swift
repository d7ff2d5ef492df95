import Foundation
import HalcyonImage
import HalcyonSystem

/// The positions of the frames of an APNG, read from its own chunks without libpng, which does not support them.
struct APNGFrames {
    struct Entry {
        let frame: AnimationFrame
        /// The range from the start of the first to the end of the last chunk of its pixels. It may contain other
        /// chunks.
        var chunks: Range<Int>
        /// Whether its pixels are those of the default image.
        let isDefaultImage: Bool
    }

    private(set) var entries: [Entry] = []
    /// The PLTE and tRNS chunks, which every frame shares. At most one of each, and no longer than the format
    /// allows, because each frame gets a copy.
    var shared: [Range<Int>] { [palette, transparency].compactMap { $0 } }
    private var palette: Range<Int>?
    private var transparency: Range<Int>?
    /// Whether pixels are indices into the palette.
    private var isIndexed = false
    /// The sequence number of the next fcTL or fdAT.
    private var sequence = 0
    /// The frame of an fcTL whose pixels have not been found yet.
    private var next: AnimationFrame?
    private var hasSeenImage = false
    /// Whether more pixels of the last frame may follow: it ends when the next frame begins or the file ends.
    private var isOpen = false

    var beginsWithDefaultImage: Bool { entries.first?.isDefaultImage ?? false }

    /// Whether a frame, though its own pixels may be opaque, is shown with a part of the empty canvas.
    func leavesGaps(on canvas: PixelSize) -> Bool {
        let frames = entries.map(\.frame)
        guard let first = frames.first else { return false }
        return first.rect.size != canvas
            || zip(frames.indices, zip(frames, frames.dropFirst())).contains { index, pair in
                // The first frame was drawn on nothing.
                let isCleared = pair.0.disposal == .clear || pair.0.disposal == .restore && index == 0
                return isCleared && !pair.1.rect.covers(pair.0.rect)
            }
    }

    /// Finds the frames whose chunks are complete and in order. The first chunk that is not ends the animation, as
    /// it does in browsers. Nil if there is no frame.
    init?(_ data: Data, info: ImageInfo) {
        data.read { reader in
            isIndexed = reader.byte(25) == 3
            for chunk in PNGChunks(reader) {
                guard reader.has(chunk.declaredLength + 12, at: chunk.offset), take(chunk, info: info) else {
                    break
                }
                // Frames beyond the declared number are dropped below.
                if entries.count > info.frameCount { break }
            }
        }
        if isOpen { entries.removeLast() }
        if entries.count > info.frameCount { entries.removeLast(entries.count - info.frameCount) }
        if entries.isEmpty { return nil }
    }

    /// Reads a chunk.
    ///
    /// - Returns: whether there may be more frames.
    private mutating func take(_ chunk: PNGChunks.Chunk, info: ImageInfo) -> Bool {
        if chunk.isNamed("IEND") || chunk.isNamed("fcTL") { isOpen = false }
        if chunk.isNamed("IEND") { return false }
        if chunk.isNamed("PLTE") {
            if !hasSeenImage, palette == nil, chunk.declaredLength <= 768 { palette = chunk.offset..<chunk.end }
        } else if chunk.isNamed("tRNS") {
            // The alpha of colours that are not there yet counts in no decoder.
            if !hasSeenImage, transparency == nil, chunk.declaredLength <= 256, !isIndexed || palette != nil {
                transparency = chunk.offset..<chunk.end
            }
        } else if chunk.isNamed("IDAT") {
            takePixels(chunk, isDefaultImage: true)
            hasSeenImage = true
        } else if chunk.isNamed("fcTL") {
            return takeControl(chunk.body, canvas: info.storedSize)
        } else if chunk.isNamed("fdAT") {
            guard hasSeenImage, isInSequence(chunk.body) else { return false }
            takePixels(chunk, isDefaultImage: false)
        }
        return true
    }

    private mutating func takePixels(_ chunk: PNGChunks.Chunk, isDefaultImage: Bool) {
        if let frame = next {
            entries.append(Entry(frame: frame, chunks: chunk.offset..<chunk.end, isDefaultImage: isDefaultImage))
            next = nil
            isOpen = true
        } else if let last = entries.indices.last, entries[last].isDefaultImage == isDefaultImage {
            entries[last].chunks = entries[last].chunks.lowerBound..<chunk.end
        }
    }

    private mutating func takeControl(_ body: ByteReader, canvas: PixelSize) -> Bool {
        guard next == nil, isInSequence(body), let width = body.bigEndian32(4), let height = body.bigEndian32(8),
            let x = body.bigEndian32(12), let y = body.bigEndian32(16), let numerator = body.bigEndian16(20),
            let denominator = body.bigEndian16(22), let disposal = body.byte(24), let blend = body.byte(25)
        else { return false }
        let rect = PixelRect(x: x, y: y, width: width, height: height)
        guard rect.clamped(to: canvas) == rect, disposal <= 2, blend <= 1 else { return false }
        // The frame of the default image must cover the whole canvas.
        guard hasSeenImage || rect.size == canvas else { return false }
        next = AnimationFrame(
            rect: rect, duration: .seconds(numerator) / (denominator == 0 ? 100 : denominator),
            disposal: [.keep, .clear, .restore][disposal], blend: blend == 0 ? .replace : .over)
        return true
    }

    private mutating func isInSequence(_ body: ByteReader) -> Bool {
        guard body.bigEndian32(0) == sequence else { return false }
        sequence += 1
        return true
    }
}

extension PixelRect {
    /// Both lie on a canvas.
    fileprivate func covers(_ other: PixelRect) -> Bool {
        x <= other.x && y <= other.y && x + size.width >= other.x + other.size.width
            && y + size.height >= other.y + other.size.height
    }
}

extension PNGCoder: AnimatedImageDecoder {
    package func frames(of data: Data, info: ImageInfo) throws -> any FrameReader {
        guard let frames = APNGFrames(data, info: info) else { throw PNGCoder.noFrame }
        return APNGFrameReader(data: data, frames: frames)
    }
}

/// The frames of an APNG, each passed to libpng as a PNG of its own.
struct APNGFrameReader: FrameReader {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    let frames: [AnimationFrame]
    private let data: Data
    private let source: APNGFrames
    private let isOpaque: Bool

    init(data: Data, frames: APNGFrames) {
        self.data = data
        source = frames
        self.frames = frames.entries.map(\.frame)
        // A canvas with gaps has alpha, and frames without.
        isOpaque = (try? data.read { try PNGHeader.info($0) })?.hasAlpha == false
    }

    func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
        let entry = source.entries[index]
        let file = try data.read { try png(of: entry, in: $0) }
        return try PNGCoder.decodeImage(file, size: entry.frame.rect.size, isOpaque: isOpaque, context: context)
    }

    /// Returns the frame as a PNG file. Costs a copy of its compressed pixels.
    private func png(of entry: APNGFrames.Entry, in reader: ByteReader) throws -> Data {
        var file = Data(capacity: entry.chunks.count + 1024)
        file.append(contentsOf: Self.signature)
        var header = Data("IHDR".utf8)
        for side in [entry.frame.rect.size.width, entry.frame.rect.size.height] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: side).bigEndian) { header.append(contentsOf: $0) }
        }
        // The bit depth, the colour type and the methods are those of the whole file.
        header.append(contentsOf: reader.part(at: 24, length: 5).bytes)
        Self.append(header, to: &file)
        for range in source.shared { file.append(contentsOf: reader.bytes[range]) }
        // All chunks of pixels are joined to one.
        let start = file.count
        file.append(contentsOf: [0, 0, 0, 0])
        file.append(contentsOf: "IDAT".utf8)
        for chunk in PNGChunks(reader, from: entry.chunks.lowerBound) {
            guard chunk.end <= entry.chunks.upperBound else { break }
            guard chunk.isNamed(entry.isDefaultImage ? "IDAT" : "fdAT") else { continue }
            // The body of an fdAT is a sequence number followed by the body of an IDAT.
            file.append(contentsOf: reader.bytes[chunk.bodyRange].dropFirst(entry.isDefaultImage ? 0 : 4))
        }
        Self.closeChunk(at: start, in: &file)
        Self.append(Data("IEND".utf8), to: &file)
        return file
    }

    /// Appends a chunk, given by its name and body.
    static func append(_ named: Data, to file: inout Data) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: named.count - 4).bigEndian) { file.append(contentsOf: $0) }
        file.append(named)
        let sum = named.withUnsafeBytes { PNGChunks.checksum($0) }
        withUnsafeBytes(of: sum.bigEndian) { file.append(contentsOf: $0) }
    }

    /// Completes the last chunk of the file with its length and checksum. The chunk begins at `start` with a
    /// placeholder for the length.
    private static func closeChunk(at start: Int, in file: inout Data) {
        let sum = file.withUnsafeBytes { PNGChunks.checksum(UnsafeRawBufferPointer(rebasing: $0[(start + 4)...])) }
        let length = UInt32(truncatingIfNeeded: file.count - start - 8).bigEndian
        withUnsafeBytes(of: length) { file.replaceSubrange(start..<start + 4, with: $0) }
        withUnsafeBytes(of: sum.bigEndian) { file.append(contentsOf: $0) }
    }
}
