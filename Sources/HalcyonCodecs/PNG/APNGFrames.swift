#if PNG
    import Foundation
    import HalcyonImage

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
        /// The sequence number of the next fcTL or fdAT.
        private var sequence = 0
        /// The frame of an fcTL whose pixels have not been found yet.
        private var next: AnimationFrame?
        private var hasSeenImage = false
        /// Whether more pixels of the last frame may follow: it ends when the next frame begins or the file ends.
        private var isOpen = false

        var beginsWithDefaultImage: Bool { entries.first?.isDefaultImage ?? false }

        /// Finds the frames whose chunks are complete and in order. The first chunk that is not ends the animation, as
        /// it does in browsers. Nil if there is no frame.
        init?(_ data: Data, info: ImageInfo) {
            data.read { reader in
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
                if !hasSeenImage, transparency == nil, chunk.declaredLength <= 256 {
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
#endif
