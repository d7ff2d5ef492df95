import CZlib
import Foundation
import HalcyonImage

/// Reads the colour profile of a PNG. If there are several chunks, the most exact one counts, in the order of the
/// format's specification: cICP, iCCP, sRGB, then gAMA with cHRM.
enum PNGColor {
    static func profile(_ reader: ByteReader) -> ColorProfile? {
        var chunks: [String: ByteReader] = [:]
        for chunk in PNGChunks(reader) {
            if chunk.isNamed("IDAT") || chunk.isNamed("IEND") { break }
            for name: StaticString in ["cICP", "iCCP", "sRGB", "gAMA", "cHRM", "cLLI", "mDCV"]
            where chunk.isNamed(name) {
                if chunks["\(name)"] == nil { chunks["\(name)"] = chunk.body }
            }
        }
        // Decoded pixels have red, green and blue even if they are grey, so only grey images use a grey profile.
        let isGray = [0, 4].contains(reader.byte(25))
        // The others have no meaning for red, green and blue in the full range.
        if let body = chunks["cICP"], let primaries = body.byte(0), let transfer = body.byte(1),
            body.matches([0, 1], at: 2),
            CodePoints.areKnown(primaries: primaries, transfer: transfer)
        {
            return CodePoints.profile(
                primaries: primaries, transfer: transfer, peak: peak(chunks["cLLI"], chunks["mDCV"]))
        }
        if let body = chunks["iCCP"], let data = unpacked(body) { return .icc(data, model(data, isGray: isGray)) }
        guard chunks["sRGB"] == nil, let gamma = chunks["gAMA"]?.bigEndian32(0), gamma > 0 else { return nil }
        return chromaticities(chunks["cHRM"], gamma: gamma)
    }

    /// Returns the light of the brightest pixel in cd/m2, or else that of the display that the picture was graded on. Both are in ten
    /// thousandths, and 0 if they are not known.
    private static func peak(_ content: ByteReader?, _ display: ByteReader?) -> Double? {
        [content?.bigEndian32(0), display?.bigEndian32(16)].lazy.compactMap { $0 }.first { $0 > 0 }.map {
            Double($0) / 10_000
        }
    }

    /// Returns the colour model of a profile. Grey pixels may have an RGB profile.
    private static func model(_ profile: Data, isGray: Bool) -> ColorModel {
        isGray && profile.read { $0.matches("GRAY", at: 16) } ? .gray : .rgb
    }

    /// Returns the profile of the gAMA and cHRM chunks, whose values are in hundred thousandths, the gamma as its
    /// reciprocal. Nil if they describe sRGB, or nothing meaningful.
    private static func chromaticities(_ chunk: ByteReader?, gamma: Int) -> ColorProfile? {
        // A gamma beyond this range has no meaning.
        guard (10_000...500_000).contains(gamma) else { return nil }
        let values = (0..<8).compactMap { chunk?.bigEndian32($0 * 4) }
        let isOfSRGB = values.count < 8 || zip(values, sRGB).allSatisfy { abs($0 - $1) < 1000 }
        // The gamma by which writers describe the curve of sRGB, together with its primaries.
        if isOfSRGB, (45_000...46_000).contains(gamma) { return nil }
        func point(_ index: Int) -> ColorPrimaries.Point {
            .init(Double(values[index * 2]) / 100_000, Double(values[index * 2 + 1]) / 100_000)
        }
        let primaries =
            isOfSRGB
            ? .bt709 : ColorPrimaries(white: point(0), red: point(1), green: point(2), blue: point(3))
        return .primaries(primaries, .gamma(100_000 / Double(gamma)))
    }

    /// The white, red, green and blue points of sRGB.
    private static let sRGB = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]

    /// Returns the size that the profile of an iCCP chunk declares, or 0 if it is not a profile, or none that is
    /// unpacked. Unpacks its header of 128 bytes.
    static func profileByteCount(_ body: ByteReader) -> Int {
        guard let header = compressed(body).flatMap({ inflated($0, byteCount: 128) }) else { return 0 }
        let count = header.read { $0.matches("acsp", at: 36) ? $0.bigEndian32(0) ?? 0 : 0 }
        return count <= largest ? count : 0
    }

    /// Unpacks a profile, at most as many bytes as it declares itself; the limit on metadata has already accepted
    /// that size.
    private static func unpacked(_ body: ByteReader) -> Data? {
        let count = profileByteCount(body)
        guard count >= 128, let start = compressed(body) else { return nil }
        return inflated(start, byteCount: count)
    }

    /// The maximum size of a profile in bytes. Profiles for printers reach a few megabytes.
    private static let largest = 1 << 26

    /// Returns the compressed profile, which follows a name of at most 79 characters, a zero and the compression
    /// method.
    private static func compressed(_ body: ByteReader) -> ByteReader? {
        guard let end = body.part(at: 0, length: 80).bytes.firstIndex(of: 0) else { return nil }
        return body.part(at: end + 2, length: body.count)
    }

    /// Returns the first `byteCount` unpacked bytes, or nil if there are fewer, or they are broken.
    private static func inflated(_ reader: ByteReader, byteCount: Int) -> Data? {
        // Allocated on the heap, because zlib keeps its address.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        let memory = InflateMemory.lend(to: stream)
        defer { memory.deallocate() }
        guard inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
        defer { inflateEnd(stream) }
        // zlib only reads the input.
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

/// The memory that zlib takes to unpack, allocated by the program in one block. If an allocation failed, zlib would
/// report the data as broken, and the image would be shown without its profile, in wrong colours.
private enum InflateMemory {
    /// The size of the block. zlib takes about 7 KiB of state and a window of 32 KiB; its manual allows for 44 KiB.
    private static let byteCount = 1 << 16
    private static let alignment = 16

    /// - Returns: the block, which the caller frees after `inflateEnd`.
    static func lend(to stream: UnsafeMutablePointer<z_stream>) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: alignment)
        // The number of bytes in use, which includes this number itself.
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
