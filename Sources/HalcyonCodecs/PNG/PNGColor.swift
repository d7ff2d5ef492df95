#if PNG
    import CZlib
    import Foundation
    import HalcyonImage

    /// What a PNG says about its colours. Of several chunks the most exact one counts, as the format's specification
    /// orders them: cICP, iCCP, sRGB, then gAMA with cHRM.
    enum PNGColor {
        static func profile(_ reader: ByteReader) -> ColorProfile? {
            var chunks: [String: ByteReader] = [:]
            for chunk in PNGChunks(reader) {
                if chunk.isNamed("IDAT") || chunk.isNamed("IEND") { break }
                for name: StaticString in ["cICP", "iCCP", "sRGB", "gAMA", "cHRM"] where chunk.isNamed(name) {
                    if chunks["\(name)"] == nil { chunks["\(name)"] = chunk.body }
                }
            }
            // Red, green and blue are there even where all are equal, so a profile of grey fits grey alone.
            let isGray = [0, 4].contains(reader.byte(25))
            if let body = chunks["cICP"], let primaries = body.byte(0), let transfer = body.byte(1),
                CodePoints.areKnown(primaries: primaries, transfer: transfer)
            {
                return CodePoints.profile(primaries: primaries, transfer: transfer)
            }
            if let body = chunks["iCCP"], let data = unpacked(body) { return .icc(data, model(data, isGray: isGray)) }
            guard chunks["sRGB"] == nil, let gamma = chunks["gAMA"]?.bigEndian32(0), gamma > 0 else { return nil }
            return chromaticities(chunks["cHRM"], gamma: gamma)
        }

        /// Grey pixels may have a profile of colours.
        private static func model(_ profile: Data, isGray: Bool) -> ColorModel {
            isGray && profile.read { $0.matches("GRAY", at: 16) } ? .gray : .rgb
        }

        /// In hundred thousandths, the gamma as its reciprocal.
        private static func chromaticities(_ chunk: ByteReader?, gamma: Int) -> ColorProfile? {
            // Beyond this range nothing is meant.
            guard (10_000...500_000).contains(gamma) else { return nil }
            let values = (0..<8).compactMap { chunk?.bigEndian32($0 * 4) }
            let isOfSRGB = values.count < 8 || zip(values, sRGB).allSatisfy { abs($0 - $1) < 1000 }
            // What is written for sRGB's curve, beside its primaries.
            if isOfSRGB, (45_000...46_000).contains(gamma) { return nil }
            func point(_ index: Int) -> ColorPrimaries.Point {
                .init(Double(values[index * 2]) / 100_000, Double(values[index * 2 + 1]) / 100_000)
            }
            let primaries =
                isOfSRGB
                ? .bt709 : ColorPrimaries(white: point(0), red: point(1), green: point(2), blue: point(3))
            return .primaries(primaries, .gamma(100_000 / Double(gamma)))
        }

        /// White, red, green and blue of sRGB.
        private static let sRGB = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]

        /// The size that an iCCP chunk's profile says it has, 0 where it is none. Unpacks its header of 128 bytes.
        static func profileByteCount(_ body: ByteReader) -> Int {
            guard let header = compressed(body).flatMap({ inflated($0, byteCount: 128) }) else { return 0 }
            return header.read { $0.matches("acsp", at: 36) ? $0.bigEndian32(0) ?? 0 : 0 }
        }

        /// No more than the profile itself says that it is long, which the limit on metadata has let pass.
        private static func unpacked(_ body: ByteReader) -> Data? {
            let count = profileByteCount(body)
            guard count >= 128, count <= largest, let start = compressed(body) else { return nil }
            return inflated(start, byteCount: count)
        }

        /// Profiles for printers reach a few megabytes.
        private static let largest = 1 << 26

        /// Behind a name of at most 79 characters, a zero and the method.
        private static func compressed(_ body: ByteReader) -> ByteReader? {
            guard let end = body.part(at: 0, length: 80).bytes.firstIndex(of: 0) else { return nil }
            return body.part(at: end + 2, length: body.count)
        }

        /// Nil where there are fewer bytes, or they are broken.
        private static func inflated(_ reader: ByteReader, byteCount: Int) -> Data? {
            // On the heap, as zlib remembers its address.
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            stream.initialize(to: z_stream())
            defer { stream.deallocate() }
            let memory = InflateMemory.lend(to: stream)
            defer { memory.deallocate() }
            guard inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
            defer { inflateEnd(stream) }
            // zlib only reads it.
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: reader.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = UInt32(clamping: reader.count)
            var result = Data()
            var piece = [UInt8](repeating: 0, count: min(byteCount, 1 << 16))
            while result.count < byteCount {
                let wanted = min(piece.count, byteCount - result.count)
                let status = piece.withUnsafeMutableBufferPointer { piece in
                    stream.pointee.next_out = piece.baseAddress
                    stream.pointee.avail_out = UInt32(wanted)
                    return inflate(stream, Z_NO_FLUSH)
                }
                let written = wanted - Int(stream.pointee.avail_out)
                result.append(contentsOf: piece.prefix(written))
                guard result.count == byteCount || (status == Z_OK && written > 0) else { return nil }
            }
            return result
        }
    }

    /// All the memory that zlib takes to unpack, in one block of the program's own. zlib would call data broken where it gets
    /// none, and an image without its profile would be shown in wrong colours.
    private enum InflateMemory {
        /// About 7 KiB of state and a window of 32 KiB; zlib's manual allows for 44 KiB.
        private static let byteCount = 1 << 16
        private static let alignment = 16

        /// - Returns: the block, which is the caller's to free behind `inflateEnd`.
        static func lend(to stream: UnsafeMutablePointer<z_stream>) -> UnsafeMutableRawPointer {
            let block = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: alignment)
            // The bytes that are given out, these among them.
            block.storeBytes(of: alignment, as: Int.self)
            stream.pointee.opaque = block
            stream.pointee.zalloc = { block, count, size in
                guard let block else { return nil }
                let used = block.load(as: Int.self)
                let size = Int(count) * Int(size)
                let end = (used + size + InflateMemory.alignment - 1) & ~(InflateMemory.alignment - 1)
                guard end <= InflateMemory.byteCount else { return nil }
                block.storeBytes(of: end, as: Int.self)
                return block + used
            }
            stream.pointee.zfree = { _, _ in }
            return block
        }
    }
#endif
