import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

@Suite struct BMPTests {
    let registry = CoderRegistry.standard()

    @Test func formatIsUnsupportedWithoutItsCoder() throws {
        registry.removeAll { $0 is BMPCoder }
        let data = try Fixture.read("bmp/24.bmp")
        #expect(throws: CodecError.unsupportedFormat(.bmp)) { try registry.decode(data) }
    }

    private func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> ($0 * 8) & 255) } }

    /// A file with a palette of black, red, green and blue for up to 8 bits.
    private func file(_ width: Int, _ height: Int, bits: Int, compression: Int = 0, _ rows: [UInt8]) -> Data {
        let palette: [UInt8] = bits <= 8 ? [0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 0] : []
        let offset = 14 + 40 + palette.count
        let head = Array("BM".utf8) + little(offset + rows.count, 4) + little(0, 4) + little(offset, 4)
        let info = little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2)
        return Data(head + info + little(compression, 4) + little(0, 12) + little(4, 4) + little(0, 4) + palette + rows)
    }

    private func indices(_ bitmap: Bitmap) -> [Int] {
        let colors: [[UInt8]] = [[0, 0, 0, 255], [0, 0, 255, 255], [0, 255, 0, 255], [255, 0, 0, 255]]
        let bytes = bitmap.bytes
        return stride(from: 0, to: bytes.count, by: 4).map { colors.firstIndex(of: Array(bytes[$0..<$0 + 4])) ?? -1 }
    }

    @Test func runsJumpAndEnd() throws {
        // Two of colour 1, a step of 1 and 1, one of colour 2, the end.
        let runs: [UInt8] = [2, 1, 0, 2, 1, 1, 1, 2, 0, 1]
        let bitmap = try registry.decode(file(4, 2, bits: 8, compression: 1, runs)).bitmap
        #expect(indices(bitmap) == [0, 0, 0, 2, 1, 1, 0, 0])
    }

    @Test func runsMayBeStoredTopDown() throws {
        let runs: [UInt8] = [2, 1, 0, 2, 1, 1, 1, 2, 0, 1]
        let bitmap = try registry.decode(file(4, -2, bits: 8, compression: 1, runs)).bitmap
        #expect(indices(bitmap) == [1, 1, 0, 0, 0, 0, 0, 2])
    }

    /// A header of 56 bytes with masks, of which the last declares alpha.
    private func masked(_ pixels: [UInt8]) -> Data {
        let masks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000].flatMap { little($0, 4) }
        let head = Array("BM".utf8) + little(70 + pixels.count, 4) + little(0, 4) + little(70, 4)
        let info = little(56, 4) + little(pixels.count / 4, 4) + little(1, 4) + little(1, 2) + little(32, 2)
        return Data(head + info + little(3, 4) + little(0, 20) + masks + pixels)
    }

    @Test func anAlphaOfZeroEverywhereIsNone() throws {
        let opaque = try registry.decode(masked([255, 0, 0, 0, 0, 255, 0, 0])).bitmap
        #expect(indices(opaque) == [3, 2])
        let used = try registry.decode(masked([255, 0, 0, 0, 0, 255, 0, 255])).bitmap
        #expect(used.bytes == [0, 0, 0, 0, 0, 255, 0, 255])
    }

    @Test func runsBeyondTheImageAreDropped() throws {
        for runs in [
            [255, 3, 0, 0, 255, 3, 0, 0, 9, 9], [255, 3, 0, 2, 0, 255], [1, 1, 0, 2, 255, 0, 0, 4, 2, 2, 2, 2, 0, 1],
        ] {
            let bitmap = try registry.decode(file(3, 2, bits: 8, compression: 1, runs.map { UInt8($0) })).bitmap
            #expect(Set(indices(bitmap)).isSubset(of: [0, 1, 3]))
        }
        #expect(throws: CodecError.damaged(.bmp, reason: "the file was cut off")) {
            try registry.decode(file(3, 2, bits: 8, compression: 1, [255, 3, 0]))
        }
    }

    @Test func fourBitRunsTakeTurns() throws {
        let runs: [UInt8] = [3, 0x12, 0, 3, 0x31, 0x20, 0, 1]
        let bitmap = try registry.decode(file(6, 1, bits: 4, compression: 2, runs)).bitmap
        #expect(indices(bitmap) == [1, 2, 1, 3, 1, 2])
    }

    @Test func theLastRowNeedsNoPadding() throws {
        let bitmap = try registry.decode(file(1, 2, bits: 24, [0, 0, 255, 0, 0, 255, 0])).bitmap
        #expect(indices(bitmap) == [2, 1])
    }

    @Test func sizesAreCheckedFirst() throws {
        for (width, height) in [(60_000, 60_000), (1 << 30, 1 << 30), (70_000, -1), (5, Int(Int32.min))] {
            let error = #expect(throws: CodecError.self) { try registry.decode(file(width, height, bits: 24, [])) }
            #expect(error?.code == "limitExceeded")
        }
        for (width, height) in [(0, 4), (4, 0), (-4, 4)] {
            let error = #expect(throws: CodecError.self) { try registry.decode(file(width, height, bits: 24, [])) }
            #expect(error?.code == "damagedImage")
        }
    }

    @Test func otherKindsAreRefused() throws {
        for (bits, compression) in [(3, 0), (24, 1), (8, 2), (24, 4), (24, 5), (8, 3), (0, 0), (65_535, 0)] {
            let data = file(2, 2, bits: bits, compression: compression, [UInt8](repeating: 0, count: 100))
            let error = #expect(throws: CodecError.self) { try registry.decode(data) }
            #expect(error?.code == "damagedImage")
        }
    }

    @Test func wideMasksAreRoundedToo() {
        #expect(BMPMask(0xFFFF_FFFF).value(0x8000_0000) == 128)
        #expect(BMPMask(0x1F).value(16) == 132)
        #expect(BMPMask(0).value(-1) == 0)
    }
}
