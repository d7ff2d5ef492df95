import CZlib
import Foundation

/// A PNG of given rows, for tests.
struct PNGFile {
    let width: Int
    let height: Int
    /// The colour type of the format: 0 is grey, 2 RGB, 3 a palette, 4 grey with alpha, 6 RGBA.
    let kind: Int
    let bits: Int
    var palette: [UInt8] = []
    var alpha: [UInt8] = []

    var rowBytes: Int { (width * ([0: 1, 2: 3, 3: 1, 4: 2, 6: 4][kind] ?? 1) * bits + 7) / 8 }

    /// Returns the file with a compressed stream in chunks of `chunk` bytes.
    func data(_ stream: Data, chunk: Int = .max) -> Data {
        func big32(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let header = Data(big32(width) + big32(height) + [UInt8(bits), UInt8(kind), 0, 0, 0])
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + CraftedFile.chunk("IHDR", header)
        if !palette.isEmpty { file += CraftedFile.chunk("PLTE", Data(palette)) }
        if !alpha.isEmpty { file += CraftedFile.chunk("tRNS", Data(alpha)) }
        for start in stride(from: 0, to: max(1, stream.count), by: min(chunk, max(1, stream.count))) {
            file += CraftedFile.chunk("IDAT", stream.dropFirst(start).prefix(chunk))
        }
        return file + CraftedFile.chunk("IEND", Data())
    }

    /// Returns rows of random bytes with any filters, some of them like those before.
    func rows(_ random: inout FixedGenerator) -> [UInt8] {
        var rows: [UInt8] = []
        for _ in 0..<height {
            let isNew = rows.isEmpty || Bool.random(using: &random)
            let highest = UInt8.random(in: 1...255, using: &random)
            let row =
                isNew
                ? (0..<rowBytes).map { _ in UInt8.random(in: 0...highest, using: &random) } : rows.suffix(rowBytes)
            rows += [UInt8.random(in: 0...4, using: &random)] + row
        }
        return rows
    }
}

/// The options of zlib that decide what a stream looks like.
struct Packing {
    var level: Int32 = 6
    /// The window as a power of two, 9 to 15.
    var window: Int32 = 15
    /// 1 to 9: the number of symbols of a block, as a power of two and 6 more.
    var memory: Int32 = 8
    var strategy: Int32 = Z_DEFAULT_STRATEGY
    /// The lengths after which a block ends; a stored block without bytes follows.
    var flushes: [Int] = []
    /// The bytes at the end that are stored, and not compressed.
    var storedTail = 0

    func packed(_ bytes: [UInt8]) -> Data {
        var stream = z_stream()
        deflateInit2_(
            &stream, level, Z_DEFLATED, window, memory, strategy, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var packed = [UInt8](repeating: 0, count: bytes.count * 2 + 100 * (flushes.count + 2))
        var bytes = bytes
        let count = bytes.count
        bytes.withUnsafeMutableBufferPointer { source in
            packed.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                var done = 0
                func pack(to end: Int, _ flush: Int32) {
                    stream.avail_in = UInt32(end - done)
                    done = end
                    deflate(&stream, flush)
                }
                for end in flushes where end <= count - storedTail { pack(to: end, Z_SYNC_FLUSH) }
                if storedTail > 0 {
                    pack(to: count - storedTail, Z_BLOCK)
                    deflateParams(&stream, 0, strategy)
                }
                pack(to: count, Z_FINISH)
            }
        }
        return Data(packed.prefix(Int(stream.total_out)))
    }
}
