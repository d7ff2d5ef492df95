import Foundation
import Glibc
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSystem

/// Files that were made to do harm.
@Suite struct CraftedFileTests {
    let registry = CoderRegistry.standard()

    // MARK: WebP

    private func tinyWebP(isLossless: Bool) throws -> Data {
        let file = try registry.encode(
            sampleImage(PixelSize(1, 1)), as: .webp, options: EncodeOptions(isLossless: isLossless))
        // The pixels' chunk alone.
        return file.dropFirst(12)
    }

    @Test(arguments: [false, true]) func canvasChunkAfterPixelsIsIgnored(isLossless: Bool) throws {
        let pixels = try tinyWebP(isLossless: isLossless)
        let file = CraftedFile.riff(pixels, CraftedFile.canvas(100, 100))
        #expect(try registry.probe(file).size == PixelSize(1, 1))
        #expect(try registry.decode(file).size == PixelSize(1, 1))
    }

    @Test(arguments: [false, true]) func aCanvasThatThePixelsDoNotFillIsDamaged(isLossless: Bool) throws {
        let file = CraftedFile.riff(CraftedFile.canvas(100, 100), try tinyWebP(isLossless: isLossless))
        let error = #expect(throws: CodecError.self) { try registry.decode(file) }
        #expect(error?.code == "damagedImage")
    }

    /// The memory of an image is never handed out uninitialized, whatever the header declares.
    @Test func anOutputOfAnotherSizeIsDamaged() throws {
        let file = CraftedFile.riff(try tinyWebP(isLossless: true))
        var memory = [UInt8](repeating: 77, count: 400)
        memory.withUnsafeMutableBytes { pixels in
            let output = WebPOutput(
                pixels: pixels, bytesPerRow: 40, size: PixelSize(10, 10), isScaled: false, hasAlpha: false)
            let error = #expect(throws: CodecError.self) {
                try file.withUnsafeBytes { try output.decode($0, context: .uncancellable) }
            }
            #expect(error?.code == "damagedImage")
        }
    }

    @Test(arguments: [nil, TargetSize(PixelSize(10, 10))]) func undeclaredAlphaIsDecodedAsOpaque(_ target: TargetSize?)
        throws
    {
        let image = try sampleImage(PixelSize(64, 64), hasAlpha: true)
        var file = try registry.encode(image, as: .webp, options: EncodeOptions(isLossless: true))
        let start = try #require(file.range(of: Data("VP8L".utf8))).upperBound + 4
        #expect(file[start + 4] & 0x10 != 0)
        file[start + 4] &= ~0x10
        // Only the pixels' chunk: a VP8X before it declares alpha by itself.
        let pixels = CraftedFile.riff(file[(start - 8)...])
        let decoded = try registry.decode(pixels, options: DecodeOptions(target: target))
        #expect(decoded.bitmap.isOpaque)
        let bytes = decoded.bitmap.bytes
        #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
    }

    @Test(arguments: [nil, TargetSize(PixelSize(10, 10))]) func lossyPixelsWithoutAlphaAreOpaque(
        _ target: TargetSize?
    ) throws {
        let file = try registry.encode(sampleImage(PixelSize(64, 64)), as: .webp)
        let bitmap = try registry.decode(file, options: DecodeOptions(target: target)).bitmap
        #expect(bitmap.isOpaque)
        #expect(stride(from: 3, to: bitmap.bytes.count, by: 4).allSatisfy { bitmap.bytes[$0] == 255 })
    }

    // MARK: JPEG

    /// Some cameras store a film there.
    @Test func dataAfterEndMarkerIsIgnored() throws {
        let file = try Fixture.read("jpeg/baseline-420.jpg")
        let film = Data((0..<600).flatMap { _ in [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0] as [UInt8] })
        #expect(try registry.decode(file + film).bitmap.bytes == registry.decode(file).bitmap.bytes)
    }

    /// A long chunk behind the pixels is passed over, however it arrives.
    @Test func aLongChunkOfAPNGUnderWayCostsNothing() throws {
        let file = try Fixture.read("png/rgb8.png")
        var long = Data(file.dropLast(12))
        APNGFrameReader.append(Data("abCd".utf8) + Data(count: 3 << 20), to: &long)
        long += file.suffix(12)
        let decoding = try #require(registry.makeProgressive(for: long))
        for start in stride(from: 0, to: long.count, by: 1000) {
            try decoding.append(Data(long.dropFirst(start).prefix(1000)))
        }
        let image = try decoding.finish(context: .uncancellable)
        #expect(try image.bitmap.bytes == registry.decode(file).bitmap.bytes)
    }

    @Test func scansAreLimitedByTheirWork() throws {
        let bomb = CraftedFile.jpeg(width: 8192, height: 8192, scans: 40)
        let options = DecodeOptions(target: TargetSize(PixelSize(16, 16)))
        let refusal = CodecError.damaged(.jpeg, reason: "it has too many scans for its size")
        #expect(throws: refusal) { try registry.decode(bomb, options: options) }
        let decoding = try #require(registry.makeProgressive(for: bomb, options: options))
        #expect(throws: refusal) { try decoding.append(bomb) }
        let small = CraftedFile.jpeg(width: 64, height: 64, scans: 40)
        #expect(try registry.decode(small).size == PixelSize(64, 64))
        #expect(throws: CodecError.self) { try registry.decode(CraftedFile.jpeg(width: 8, height: 8, scans: 501)) }
    }

    @Test func takingInScansCanBeCancelled() throws {
        let file = CraftedFile.jpeg(width: 1024, height: 1024, scans: 20)
        let decoding = try #require(registry.makeProgressive(for: file))
        let asked = Lock(0)
        let context = WorkContext {
            asked.withLock { asked in
                asked += 1
                return asked > 5
            }
        }
        #expect(throws: CancellationError.self) { try decoding.append(file, context: context) }
        #expect(asked.withLock { $0 } == 6)
        #expect(throws: (any Error).self) { try decoding.finish(context: .uncancellable) }
    }

    // MARK: PNG

    /// The processor time of this thread, so that other tests' work does not count.
    private func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let start = now()
        try body()
        return now() - start
    }

    @Test(arguments: [false, true]) func surplusCompressedDataIsNotDecompressed(isInterlaced: Bool) throws {
        // 16 MB that become 2.6 GB.
        let file = CraftedFile.png(surplus: 16 << 20, isInterlaced: isInterlaced)
        var pixels: [UInt8] = []
        let seconds = try processorSeconds { pixels = try registry.decode(file).bitmap.bytes }
        #expect(pixels == [0, 0, 255, 255])
        #expect(seconds < 0.5, "\(seconds) s")
        // No pixel is in what is changed or missing.
        var damaged = file
        damaged[damaged.count - 20] ^= 1
        for other in [damaged, file.dropLast(12), file.prefix(file.count / 2)] {
            #expect(try registry.decode(other).bitmap.bytes == pixels)
        }
    }

    @Test(arguments: [false, true]) func pixelsThatEndTooEarlyAreDamaged(isInterlaced: Bool) throws {
        let whole = CraftedFile.png(surplus: 0, isInterlaced: isInterlaced)
        #expect(try registry.decode(whole).bitmap.bytes == [0, 0, 255, 255])
        let half = CraftedFile.png(surplus: 0, isInterlaced: isInterlaced, pixels: [0, 255])
        #expect(throws: CodecError.self) { try registry.decode(half) }
    }
}
