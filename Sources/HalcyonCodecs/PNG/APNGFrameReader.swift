#if PNG
    import CZlib
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    extension PNGCoder: AnimatedImageDecoder {
        public func frames(of data: Data, info: ImageInfo) throws -> any FrameReader {
            guard let frames = APNGFrames(data, info: info) else {
                throw CodecError.damaged(.png, reason: "its first frame is not whole")
            }
            return APNGFrameReader(data: data, frames: frames, info: info)
        }
    }

    /// The frames of an APNG, each passed to libpng as a PNG of its own.
    struct APNGFrameReader: FrameReader {
        private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

        let frames: [AnimationFrame]
        private let data: Data
        private let source: APNGFrames
        private let isOpaque: Bool

        init(data: Data, frames: APNGFrames, info: ImageInfo) {
            self.data = data
            source = frames
            self.frames = frames.entries.map(\.frame)
            isOpaque = !info.hasAlpha
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
                try check(chunk, in: reader)
                // The body of an fdAT is a sequence number followed by the body of an IDAT.
                file.append(contentsOf: reader.bytes[chunk.bodyRange].dropFirst(entry.isDefaultImage ? 0 : 4))
            }
            Self.closeChunk(at: start, in: &file)
            Self.append(Data("IEND".utf8), to: &file)
            return file
        }

        /// Checks the checksum of a chunk in the file, because libpng gets one that is computed anew.
        private func check(_ chunk: PNGChunks.Chunk, in reader: ByteReader) throws {
            let named = reader.part(at: chunk.offset + 4, length: 4 + chunk.declaredLength)
            guard reader.bigEndian32(chunk.bodyRange.upperBound) == Int(Self.checksum(named.bytes)) else {
                throw CodecError.damaged(.png, reason: "a frame's checksum is wrong")
            }
        }

        /// Appends a chunk, given by its name and body.
        static func append(_ named: Data, to file: inout Data) {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: named.count - 4).bigEndian) { file.append(contentsOf: $0) }
            file.append(named)
            let sum = named.withUnsafeBytes { Self.checksum($0) }
            withUnsafeBytes(of: sum.bigEndian) { file.append(contentsOf: $0) }
        }

        /// Completes the last chunk of the file with its length and checksum. The chunk begins at `start` with a
        /// placeholder for the length.
        private static func closeChunk(at start: Int, in file: inout Data) {
            let sum = file.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0[(start + 4)...])) }
            let length = UInt32(truncatingIfNeeded: file.count - start - 8).bigEndian
            withUnsafeBytes(of: length) { file.replaceSubrange(start..<start + 4, with: $0) }
            withUnsafeBytes(of: sum.bigEndian) { file.append(contentsOf: $0) }
        }

        private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
            UInt32(
                truncatingIfNeeded: crc32_z(0, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count))
        }
    }
#endif
