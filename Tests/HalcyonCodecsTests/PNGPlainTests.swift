import CHalcyonCodecs
import CZlib
import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Most PNGs are read without libpng, which has to accept and refuse the same files, and to have the same pixels.
@Suite struct PNGPlainTests {
    /// Every PNG of the fixtures, also those that no decoder accepts.
    private static var files: [String] {
        let paths = FileManager.default.enumerator(atPath: Fixture.folder.path)?.allObjects as? [String] ?? []
        return paths.filter { $0.hasSuffix(".png") }.sorted()
    }

    // MARK: The two readers

    /// Rows as they come.
    private final class Rows {
        let count: Int
        var pixels: [UInt8] = []
        var isInOrder = true

        init(_ width: Int) { count = width * 4 }

        func append(_ row: Int, _ bytes: UnsafePointer<UInt8>?) {
            isInOrder = isInOrder && row * count == pixels.count
            pixels += UnsafeBufferPointer(start: bytes, count: count)
        }
    }

    /// Returns the pixels by C.
    ///
    /// - Parameter plain: the description of a file that need not be libpng's.
    /// - Returns: nil if the file is refused.
    private func pixels(_ data: Data, _ size: PixelSize, plain: UnsafePointer<halcyon_png_plain>?, byRows: Bool)
        -> [UInt8]?
    {
        var pixels = [UInt8](repeating: 0, count: size.bitmapBytes)
        let rows = Rows(size.width)
        let sink = halcyon_codec_rows(
            put: { context, row, bytes in
                guard let context else { return }
                Unmanaged<Rows>.fromOpaque(context).takeUnretainedValue().append(Int(row), bytes)
            }, place: nil, context: Unmanaged.passUnretained(rows).toOpaque())
        let layout = halcyon_png_layout(
            width: Int32(size.width), height: Int32(size.height), deep: halcyon_codec_deep(), plain: plain)
        var call = halcyon_codec_call()
        let status = withExtendedLifetime(rows) {
            data.withUnsafeBytes { bytes in
                pixels.withUnsafeMutableBufferPointer { pixels in
                    halcyon_png_decode(
                        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, layout,
                        byRows ? nil : pixels.baseAddress, sink, &call)
                }
            }
        }
        #expect(rows.isInOrder)
        guard status == HALCYON_CODEC_OK else { return nil }
        return byRows ? rows.pixels : pixels
    }

    /// Checks that a decode gives what libpng gives, in a bitmap and row by row.
    ///
    /// - Returns: whether the file was accepted; nil if its header is not.
    @discardableResult
    private func compare(_ data: Data, _ name: String) throws -> Bool? {
        let options = DecodeOptions(color: .asStored, limits: DecodeLimits(maximumPixels: 1 << 20))
        guard let plan = try? CoderRegistry([PNGCoder()]).plan(data, options: options),
            data.range(of: Data("acTL".utf8)) == nil
        else { return nil }
        let size = plan.nativeSize
        let expected = pixels(data, size, plain: nil, byRows: false)
        // A coder may have converted the colours, before they were rounded.
        if !["gAMA", "iCCP", "cICP"].contains(where: { data.range(of: Data($0.utf8)) != nil }) {
            let decoded = try? PNGCoder().decode(data, plan: plan, context: .uncancellable).bytes
            #expect(decoded == expected, "\(name)")
        }
        if let plain = data.read({ PNGPlain($0, size: size) }) {
            for byRows in [false, true] {
                let own = plain.withPointer { pixels(data, size, plain: $0, byRows: byRows) }
                #expect(own == expected, "\(name), by rows: \(byRows)")
            }
        }
        return expected != nil
    }

    // MARK: Files

    @Test(arguments: files)
    func everyFileIsAsLibpngHasIt(_ file: String) throws {
        try compare(try Fixture.read(file), file)
    }

    @Test func mostFilesNeedNoLibpng() throws {
        let expected = [
            "png/rgb8.png": true, "png/rgba8.png": true, "png/palette8.png": true, "png/gray8.png": true,
            "png/adam7-rgba.png": false, "png/rgb16.png": false,
        ]
        for (file, isPlain) in expected {
            let data = try Fixture.read(file)
            let size = try PNGCoder().probe(data).size
            #expect(data.read { PNGPlain($0, size: size) != nil } == isPlain, "\(file)")
            // A file that is not as large as it should be is for libpng to refuse.
            #expect(data.read { PNGPlain($0, size: PixelSize(size.width, size.height + 1)) == nil }, "\(file)")
        }
    }

    @Test(arguments: [0, 2, 3, 4, 6])
    func everyKindOfPixelAndStream(_ kind: Int) throws {
        var random = FixedGenerator(state: UInt64(kind))
        for bits in [0, 3].contains(kind) ? [1, 2, 4, 8] : [8] {
            for round in 0..<60 {
                var file = PNGFile(
                    width: .random(in: 1...70, using: &random), height: .random(in: 1...40, using: &random),
                    kind: kind, bits: bits)
                if kind == 3 {
                    let colors = Int.random(in: 1...1 << bits, using: &random)
                    file.palette = (0..<colors * 3).map { _ in .random(in: 0...255, using: &random) }
                    if round.isMultiple(of: 2) {
                        file.alpha = (0..<colors).map { _ in .random(in: 0...255, using: &random) }
                    }
                }
                let packing = Packing(
                    level: .random(in: 0...9, using: &random), window: .random(in: 9...15, using: &random),
                    memory: .random(in: 1...9, using: &random), strategy: .random(in: 0...4, using: &random))
                let data = file.data(
                    packing.packed(file.rows(&random)), chunk: .random(in: 1...300, using: &random))
                let isAccepted = try compare(data, "\(kind) \(bits) \(round)")
                #expect(isAccepted == true)
            }
        }
    }

    // MARK: Streams

    /// Blocks that begin and end wherever the reader's buffer does.
    @Test func blocksOfEveryLength() throws {
        var random = FixedGenerator(state: 3)
        for width in stride(from: 1, to: 1400, by: 3) {
            let file = PNGFile(width: width, height: 1, kind: 0, bits: 8)
            let rows = file.rows(&random)
            let packing = Packing(
                memory: 1, strategy: width.isMultiple(of: 2) ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY,
                flushes: width.isMultiple(of: 5) ? [width / 3, width / 2] : [],
                storedTail: .random(in: 0...width, using: &random))
            #expect(try compare(file.data(packing.packed(rows)), "\(width)") == true)
        }
    }

    /// Matches of every length and distance, up to those that only the whole window holds, in rows longer than it.
    @Test func matchesOfEveryReach() throws {
        for distance in Array(1...40) + [255, 256, 257, 4095, 16_384, 32_505, 32_506, 32_768] {
            var random = FixedGenerator(state: UInt64(distance))
            let file = PNGFile(width: 45_000, height: 2, kind: 6, bits: 8)
            let pattern = (0..<distance).map { _ in UInt8.random(in: 0...255, using: &random) }
            var rows = (0..<2 * (file.rowBytes + 1)).map { pattern[$0 % distance] }
            rows[0] = 0
            rows[file.rowBytes + 1] = 2
            #expect(try compare(file.data(Packing(level: 9).packed(rows), chunk: 8192), "\(distance)") == true)
        }
    }

    /// Streams that zlib refuses, or whose end it does not reach, by their bits: four rows of one grey pixel.
    @Test(arguments: [
        ("a stored block", "1 00 00000 0001000000000000 1110111111111111 +", true),
        ("its length twice", "1 00 00000 0001000000000000 1110111111111110 +", false),
        ("no such block", "1 11 00000", false),
        ("fixed codes", "1 10 00110000 00110001 00110000 00110001 00110000 00110001 00110000 00110001 0000000", true),
        ("a length without meaning", "1 10 00110000 11000110 00000 0000000", false),
        ("a distance without meaning", "1 10 00110000 00110001 0000100 11110 0000000", false),
        ("a distance too far back", "1 10 00110000 00110001 0000100 00010 0000000", false),
        (
            "a distance to the beginning", "1 10 00110000 00110000 0000100 00001 00110000 00110000 00110000 0000000",
            true
        ),
    ])
    func streamsByTheirBits(_ name: String, _ bits: String, _ isAccepted: Bool) throws {
        var packed: [UInt8] = []
        var count = 0
        for bit in bits where bit == "0" || bit == "1" {
            if count.isMultiple(of: 8) { packed.append(0) }
            if bit == "1" { packed[count / 8] |= 1 << UInt8(count % 8) }
            count += 1
        }
        if bits.hasSuffix("+") { packed += [0, 1, 0, 1, 0, 1, 0, 1] }
        let file = PNGFile(width: 1, height: 4, kind: 0, bits: 8)
        let data = file.data(Data([0x78, 0x01] + packed + [0, 0, 0, 0]))
        #expect(try compare(data, name) == isAccepted)
        // Without the checksum, and without some of the bits.
        for missing in 1...6 {
            try compare(file.data(Data([0x78, 0x01] + packed + [0, 0, 0, 0]).dropLast(missing)), name)
        }
    }

    /// The first two bytes of a stream: its method, its window, a dictionary that is missing, their checksum.
    @Test func headersOfStreams() throws {
        let file = PNGFile(width: 30, height: 20, kind: 0, bits: 8)
        var random = FixedGenerator(state: 5)
        let rows = file.rows(&random)
        for window: Int32 in [9, 15] {
            let stream = Packing(window: window).packed(rows)
            for first in 0...255 {
                for second in stride(from: 0, to: 255, by: 1) where (first << 8 | second) % 31 == 0 || second == 1 {
                    try compare(
                        file.data(Data([UInt8(first), UInt8(second)]) + stream.dropFirst(2)), "\(first) \(second)")
                }
            }
        }
    }

    /// Blocks of ten bits and of five bytes that hold nothing, by the million: their codes are made once, or this takes minutes.
    @Test(.timeLimit(.minutes(1))) func blocksWithoutBytes() throws {
        let file = PNGFile(width: 1, height: 1, kind: 0, bits: 8)
        let end = Data([1, 2, 0, 0xFD, 0xFF, 0, 77, 0, 0, 0, 0])
        // Four blocks with the fixed codes: each has 0 and the kind 1 0, then seven zeros for its end.
        let fixed = Data([0b0000_0010, 0b0000_1000, 0b0010_0000, 0b1000_0000, 0b0000_0000])
        for block in [fixed, Data([0, 0, 0, 0xFF, 0xFF])] {
            var stream = Data([0x78, 0x01])
            for _ in 0..<700_000 { stream += block }
            #expect(try compare(file.data(stream + end), "\(block.count)") == true)
        }
    }

    // MARK: Damage

    @Test func filesThatEndAnywhere() throws {
        var random = FixedGenerator(state: 8)
        for (kind, chunk) in [(2, 40), (3, .max), (6, 9)] {
            var file = PNGFile(width: 9, height: 7, kind: kind, bits: 8)
            if kind == 3 { file.palette = (0..<90).map { UInt8($0) } }
            let data = file.data(Packing().packed(file.rows(&random)), chunk: chunk)
            for count in 0...data.count { try compare(data.prefix(count), "\(kind) \(count)") }
        }
    }

    @Test func chunksInAnyOrder() throws {
        var random = FixedGenerator(state: 9)
        var file = PNGFile(width: 5, height: 6, kind: 3, bits: 8)
        file.palette = (0..<30).map { UInt8($0) }
        file.alpha = [0, 100]
        let data = file.data(Packing().packed(file.rows(&random)), chunk: 12)
        var chunks: [Data] = []
        var start = 33
        while start < data.count {
            let length = data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } + 12
            chunks.append(data[start..<start + length])
            start += length
        }
        let others = ["tEXt", "teXt", "ABCD", "aBCD", "abc1", "IHDR", "sRGB", "acTl", "IDAT", "PLTE", "tRNS"]
        chunks += others.map { CraftedFile.chunk($0, Data([0, 0, 0])) } + [CraftedFile.chunk("IEND", Data([1]))]
        for round in 0..<1500 {
            var order = chunks.prefix(chunks.count - others.count - 1).map { $0 }
            for _ in 0...round % 3 {
                let place = Int.random(in: 0...order.count, using: &random)
                if let chunk = chunks.randomElement(using: &random) { order.insert(chunk, at: place) }
                if round.isMultiple(of: 4) { order.remove(at: .random(in: 0..<order.count, using: &random)) }
            }
            try compare(data.prefix(33) + order.reduce(Data(), +), "\(round)")
        }
    }

    /// Ten thousand changes of small files.
    @Test func damageIsJudgedAsByLibpng() throws {
        var random = FixedGenerator(state: 10)
        let small = try Self.files.map { try Fixture.read($0) }.filter { $0.count < 4000 && $0.count > 60 }
        var accepted = 0
        var refused = 0
        for round in 0..<10_000 {
            var data = small[round % small.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // Most of the header's bits make another image of it, or none.
                let position = Int.random(in: 33..<data.count, using: &random)
                data[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            guard let isAccepted = try compare(data, "\(round)") else { continue }
            accepted += isAccepted ? 1 : 0
            refused += isAccepted ? 0 : 1
        }
        #expect(accepted > 2000)
        #expect(refused > 2000)
    }
}
