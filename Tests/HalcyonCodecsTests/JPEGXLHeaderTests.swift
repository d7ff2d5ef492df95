import CJXL
import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonJPEGXL

/// The headers of JPEG XL, which are read before libjxl sees them.
@Suite struct JPEGXLHeaderTests {
    private let registry = CoderRegistry.standard()

    /// Writes a codestream bit by bit, from the lowest bit of each byte on.
    private struct BitWriter {
        private(set) var bytes: [UInt8] = [0xFF, 0x0A]
        private var bit = 0

        mutating func write(_ value: Int, _ count: Int) {
            for index in 0..<count {
                if bit == 0 { bytes.append(0) }
                bytes[bytes.count - 1] |= UInt8(value >> index & 1) << UInt8(bit)
                bit = (bit + 1) % 8
            }
        }

        mutating func align() { bit = 0 }

        /// The header of an image of 64 x 64 pixels in XYB.
        mutating func writeHeader() {
            write(1, 1)
            write(7, 5)
            write(1, 3)
            // All of the metadata and of the transform are the defaults.
            write(1, 1)
            write(1, 1)
            align()
        }

        /// A frame that others refer to, of a size of its own.
        mutating func writeReference(_ side: Int) {
            write(0, 1)
            write(2, 2)
            // Single values, without flags; upsampling by 1.
            write(1, 1)
            write(0, 2)
            write(0, 2)
            // Groups of 1024 pixels.
            write(3, 2)
            write(1, 1)
            for _ in 0..<2 {
                write(3, 2)
                write(side - 18_688, 30)
            }
            write(1, 2)
            write(0, 1)
            write(0, 2)
            write(1, 1)
            write(0, 2)
        }
    }

    private func code(_ error: any Error) -> String? { (error as? CodecError)?.code }

    /// libjxl would allocate the frame, and end the process if it got no memory.
    @Test(arguments: [1 << 28, 1 << 20, 200_000])
    func aFrameThatIsDrawnUponHasALimit(_ side: Int) throws {
        var writer = BitWriter()
        writer.writeHeader()
        writer.writeReference(side)
        // The lengths of its parts.
        writer.write(0, 1)
        writer.align()
        for _ in 0..<40_000 { writer.write(0, 12) }
        let data = Data(writer.bytes)
        #expect { try registry.decode(data) } throws: { code($0) == "limitExceeded" }
    }

    @Test func channelsAndProfilesHaveLimits() {
        func file(_ write: (inout BitWriter) -> Void) -> Data {
            var writer = BitWriter()
            writer.write(1, 1)
            writer.write(7, 5)
            writer.write(1, 3)
            // No further fields; 8 bits.
            writer.write(0, 2)
            writer.write(0, 3)
            writer.write(1, 1)
            write(&writer)
            writer.align()
            writer.write(0, 2000 * 8)
            return Data(writer.bytes)
        }
        let channels = file { writer in
            writer.write(3, 2)
            writer.write(4095, 12)
            for _ in 0..<4096 { writer.write(1, 1) }
        }
        let profile = file { writer in
            writer.write(0, 2)
            // Not in XYB; a profile, of RGB; no extensions; the default transform.
            writer.write(0, 1)
            writer.write(0, 1)
            writer.write(1, 1)
            writer.write(0, 2)
            writer.write(0, 2)
            writer.write(1, 1)
            // 2^28 bytes.
            writer.write(3, 2)
            writer.write(0, 12)
            writer.write(1, 1)
            writer.write(0, 8)
            writer.write(1, 1)
            writer.write(1 << 7, 8)
            writer.write(1, 1)
            writer.write(1, 8)
            writer.write(0, 1)
        }
        for data in [channels, profile] {
            #expect { try registry.probe(data) } throws: { code($0) == "limitExceeded" }
        }
    }

    @Test(arguments: Fixture.all.filter { $0.format == "jxl" })
    func everyFrameIsFound(_ fixture: Fixture) throws {
        let file = try JXLFile(try fixture.data())
        #expect(!file.isCut)
        #expect(file.info.frameCount == fixture.frames)
        #expect(file.frames.last?.header.isLast == true)
        // Nothing is between them, and nothing behind them.
        #expect(zip(file.frames, file.frames.dropFirst()).allSatisfy { $0.bytes.upperBound == $1.bytes.lowerBound })
        #expect(file.frames.last?.bytes.upperBound == file.codestream.count)
    }

    /// The sizes of the frames that are shown or drawn, as libjxl finds them without drawing; nil if it refuses the file.
    private func framesByLibrary(_ data: Data) -> [PixelSize]? {
        guard let decoder = JxlDecoderCreate(nil) else { return nil }
        defer { JxlDecoderDestroy(decoder) }
        JxlDecoderSetKeepOrientation(decoder, 1)
        JxlDecoderSetCoalescing(decoder, 0)
        JxlDecoderSubscribeEvents(decoder, Int32(JXL_DEC_FRAME.rawValue))
        return data.withUnsafeBytes { bytes in
            JxlDecoderSetInput(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
            JxlDecoderCloseInput(decoder)
            var sizes: [PixelSize] = []
            while true {
                switch JxlDecoderProcessInput(decoder) {
                case JXL_DEC_FRAME:
                    var header = JxlFrameHeader()
                    guard JxlDecoderGetFrameHeader(decoder, &header) == JXL_DEC_SUCCESS else { return nil }
                    sizes.append(PixelSize(Int(header.layer_info.xsize), Int(header.layer_info.ysize)))
                case JXL_DEC_SUCCESS: return sizes
                default: return nil
                }
            }
        }
    }

    /// A frame that libjxl sees otherwise would not be checked. Files whose headers are damaged are seen alike, or refused.
    @Test(arguments: Fixture.all.filter { $0.format == "jxl" })
    func libraryFindsTheSameFrames(_ fixture: Fixture) throws {
        let data = try JXLFile(try fixture.data()).codestream
        var random = FixedGenerator(state: 11)
        var (alike, refused) = (0, 0)
        for round in 0..<400 {
            var copy = Data(data)
            for _ in 0..<(round == 0 ? 0 : 1 + round % 3) {
                let place = Int.random(in: 2..<min(copy.count, 60), using: &random)
                copy[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            guard let sizes = framesByLibrary(copy) else { continue }
            do {
                let file = try JXLFile(copy)
                let own = file.frames.filter { $0.header.kind == .regular }.map(\.header.size)
                #expect(own == sizes, "round \(round): \(copy.prefix(60).map { $0 })")
                alike += 1
            } catch {
                refused += 1
            }
        }
        #expect(alike > 1 && refused < alike, "\(alike) alike, \(refused) refused")
    }

    /// libjxl skips the bits of such extensions twice, and would read another header than the one that was checked.
    @Test func extensionsOfAFilterAreRefused() {
        var writer = BitWriter()
        writer.writeHeader()
        // A regular frame: no modular data, no flags, no upsampling, default scales, one pass, no crop, replaced, the last.
        for (value, count) in [(0, 1), (0, 2), (0, 1), (0, 2), (0, 2), (0, 6), (0, 2), (0, 1), (0, 2), (1, 1)] {
            writer.write(value, count)
        }
        writer.write(0, 2)
        // A filter: no gaborish, no passes, an extension of no bits.
        for (value, count) in [(0, 1), (0, 1), (0, 2), (1, 2), (0, 4), (0, 2), (0, 2)] { writer.write(value, count) }
        writer.write(0, 4000)
        #expect { try registry.probe(Data(writer.bytes)) } throws: { code($0) == "damagedImage" }
    }

    /// Against the definition: the numbers that are left, and one taken out of them.
    @Test(arguments: [1, 2, 7, 64, 100])
    func aLehmerCodeSaysTheOrder(_ count: Int) {
        var generator = FixedGenerator(state: 3)
        for length in [0, count / 2, count] {
            let code = (0..<length).map { Int.random(in: 0..<count - $0, using: &generator) }
            var left = Array(0..<count)
            let expected = (0..<count).map { left.remove(at: $0 < length ? code[$0] : 0) }
            #expect(JXLPermutation.order(of: code, count: count) == expected)
        }
    }

    /// Numbers that repeat are not copied for each of them.
    @Test(.timeLimit(.minutes(1))) func aTableOfContentsOfManyPartsIsReadInNoTime() throws {
        var writer = BitWriter()
        writer.align()
        // Repeats of at least 3 numbers from 224 on; a code of one symbol for everything.
        for (value, count) in [(1, 1), (0, 2), (0, 2), (4, 4), (0, 3), (0, 3)] { writer.write(value, count) }
        writer.write(1, 1)
        writer.write(0, 2)
        writer.write(1, 1)
        for (value, count) in [(15, 4), (0, 1)] { writer.write(value, count) }
        writer.write(0, 400)
        try writer.bytes.withUnsafeBytes { bytes in
            var reader = JXLBitReader(ByteReader(bytes), at: 2)
            var numbers = try JXLEntropyReader(&reader, contexts: 8)
            for _ in 0..<200_000 { #expect(try numbers.next(0, &reader) == 0) }
        }
    }

    @Test func hiddenFramesCount() throws {
        let file = try JXLFile(try Fixture.read("jxl/coarse-frames.jxl"))
        #expect(file.frames.count > 1)
        #expect(file.frames.dropLast().allSatisfy { !$0.header.isShown && $0.header.slot != nil })
        #expect(file.extent.totalPixels > 290 * 40)
        #expect(file.info.frameCount == 1)
    }

    @Test(arguments: ["lossless", "lossless-boxes", "lossless-alpha", "animation", "passes-from-middle"])
    func aCutFileIsDamagedWhereverItIsCut(_ name: String) throws {
        let data = try Fixture.read("jxl/\(name).jxl")
        for count in stride(from: 12, to: data.count, by: 7) {
            #expect(throws: CodecError.self, "\(count)") { try registry.decode(data.prefix(count)) }
        }
    }

    private func box(_ name: String, _ body: some Sequence<UInt8>) -> [UInt8] {
        let body = Array(body)
        return withUnsafeBytes(of: UInt32(body.count + 8).bigEndian) { [UInt8]($0) } + Array(name.utf8) + body
    }

    private func parts(_ codestream: Data, _ numbers: [UInt32]) -> Data {
        let length = (codestream.count + numbers.count - 1) / numbers.count
        var file = box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
        for (index, number) in numbers.enumerated() {
            let start = codestream.startIndex + index * length
            let part = codestream[start..<min(start + length, codestream.endIndex)]
            file += box("jxlp", withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) } + part)
            file += box("Exif", [0, 0, 0, 0])
        }
        return Data(file)
    }

    @Test func aCodestreamInPartsIsJoined() throws {
        let data = try Fixture.read("jxl/lossless.jxl")
        let whole = try registry.decode(data)
        let file = parts(data, [0, 1, 2 | 1 << 31])
        #expect(try registry.decode(file).bitmap.bytes == whole.bitmap.bytes)
        #expect(JXLCoder().metadataByteCount(file) == 12)
        let decoding = try #require(registry.makeProgressive(for: file))
        for byte in file.indices { try decoding.append(file[byte...byte]) }
        #expect(try decoding.finish(context: .uncancellable).bitmap.bytes == whole.bitmap.bytes)
        for numbers in [[0, 2, 1 | 1 << 31], [1, 0, 2 | 1 << 31], [0, 1, 2]] as [[UInt32]] {
            #expect { try registry.decode(parts(data, numbers)) } throws: { code($0) == "damagedImage" }
        }
    }

    @Test func manyBoxesAreRefused() throws {
        let data = try Fixture.read("jxl/lossless-boxes.jxl")
        let many = (0..<5000).flatMap { _ in box("free", []) }
        #expect { try registry.decode(data + many) } throws: { code($0) == "limitExceeded" }
    }

    @Test func numbersAreReadAsTheyAreCoded() {
        let bytes: [UInt8] = [0b1010_0110, 0b0000_0001, 0xFF]
        bytes.withUnsafeBytes { bytes in
            var reader = JXLBitReader(ByteReader(bytes))
            #expect(reader.number(.value(7), .value(9), .bits(3, from: 10), .bits(4)) == 10 + 0b001)
            #expect(reader.bits(5) == 0b01101)
            #expect(reader.byteOffset == 2)
            #expect(!reader.alignToByte() == false)
            #expect(reader.bits(8) == 0xFF && !reader.isOver)
            #expect(reader.bits(1) == 0 && reader.isOver)
        }
    }
}
