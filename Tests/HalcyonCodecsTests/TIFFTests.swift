import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonTIFF

@Suite struct TIFFTests {
    let registry = CoderRegistry.standard()

    @Test func formatIsUnsupportedWithoutItsCoder() throws {
        registry.removeAll { $0 is TIFFCoder }
        let data = try Fixture.read("tiff/rgb-lzw.tiff")
        #expect(throws: CodecError.unsupportedFormat(.tiff)) { try registry.decode(data) }
    }

    /// One directory of `entries` (tag, type, count, value) at offset 8, and where the next one stands.
    private func file(_ entries: [(Int, Int, Int, Int)], next: Int = 0, pixels: Int = 0) -> Data {
        let body = entries.flatMap { little($0.0, 2) + little($0.1, 2) + little($0.2, 4) + little($0.3, 4) }
        return Data(little(0x2A_4949, 4) + little(8, 4) + little(entries.count, 2) + body + little(next, 4))
            + Data(repeating: 90, count: pixels)
    }

    private func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> ($0 * 8) & 255) } }

    private func gray(_ width: Int, _ height: Int, next: Int = 0, offset: Int = 200, pixels: Int = 0) -> Data {
        let entries = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
            (273, 4, 1, offset),
            (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, width * height),
        ]
        return file(entries, next: next, pixels: pixels)
    }

    @Test func handmadeGrayFileIsDecoded() throws {
        let data = gray(4, 4, offset: 8 + 2 + 9 * 12 + 4, pixels: 16)
        let image = try registry.decode(data)
        #expect(image.bitmap.bytes == (0..<16).flatMap { _ in [90, 90, 90, 255] as [UInt8] })
        #expect(image.info.colorSpace == .gray)
    }

    @Test func enormousSizesAreRefusedByTheHeader() throws {
        for (width, height) in [(60_000, 60_000), (1 << 30, 1 << 30), (70_000, 1)] {
            let error = #expect(throws: CodecError.self) { try registry.decode(gray(width, height)) }
            #expect(error?.code == "limitExceeded")
        }
        for (width, height) in [(0, 4), (4, 0), (0xFFFF_FFFF, 4)] {
            let error = #expect(throws: CodecError.self) { try registry.decode(gray(width, height)) }
            #expect(error?.code == "damagedImage")
        }
    }

    @Test func directoriesInARingAreCountedOnce() throws {
        let data = gray(4, 4, next: 8, offset: 8 + 2 + 9 * 12 + 4, pixels: 16)
        #expect(try registry.probe(data).frameCount == 1)
        #expect(try registry.decode(data).size == PixelSize(4, 4))
    }

    @Test func tooManyPagesAreRefused() throws {
        // Each directory is 2 + 2 * 12 + 4 bytes.
        var data = Data(little(0x2A_4949, 4) + little(8, 4))
        for index in 0..<12_000 {
            data += little(2, 2) + little(256, 2) + little(3, 2) + little(1, 4) + little(9, 4)
            data += little(257, 2) + little(3, 2) + little(1, 4) + little(9, 4) + little(8 + (index + 1) * 30, 4)
        }
        let error = #expect(throws: CodecError.self) { try registry.decode(data) }
        #expect(error == .limitExceeded("frames", value: 12_000, limit: 10_000))
    }

    @Test func anEnormousProfileIsRefused() throws {
        let entries = [(256, 3, 1, 4), (257, 3, 1, 4), (34_675, 7, 1 << 30, 8)]
        let error = #expect(throws: CodecError.self) { try registry.decode(file(entries)) }
        #expect(error?.code == "limitExceeded")
    }

    @Test func turnedFilesAllLookTheSame() throws {
        let upright = try registry.decode(Fixture.read("tiff/orientation-1.tiff")).bitmap
        for orientation in Orientation.allCases {
            let image = try registry.decode(Fixture.read("tiff/orientation-\(orientation.rawValue).tiff"))
            #expect(image.bitmap.bytes == (try upright.oriented(orientation).bytes), "\(orientation)")
        }
    }

    /// The page of another size between them is left out.
    @Test func pagesOfOneSizeAreFrames() throws {
        let image = try registry.decode(Fixture.read("tiff/pages.tiff"))
        let animation = try #require(image.animation)
        #expect(animation.frameCount == 3)
        let frames = try (0..<3).map { try animation.frame(at: $0).bytes }
        #expect(Set(frames).count == 3)
        #expect(frames[0] == image.bitmap.bytes)
    }

    /// The third page as a smaller copy of another one, as its mask, and as the page of a book.
    @Test(arguments: [(1, false), (4, false), (2, true)] as [(UInt8, Bool)])
    func copiesAndMasksAreNoPages(_ kind: UInt8, isPage: Bool) throws {
        var file = try Fixture.read("tiff/pages.tiff")
        func number(_ offset: Int, _ count: Int) -> Int {
            file[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func end(_ directory: Int) -> Int { directory + 2 + 12 * number(directory, 2) }
        let second = number(end(number(4, 4)), 4)
        let third = number(end(second), 4)
        // A copy of it at the end of the file, with the kind as its first entry.
        let place = file.count
        let entry: [UInt8] = [254, 0, 4, 0, 1, 0, 0, 0, kind, 0, 0, 0]
        let copy = [UInt8(number(third, 2) + 1), 0] + entry + file[(third + 2)..<end(third) + 4]
        file.replaceSubrange(
            end(second)..<end(second) + 4, with: withUnsafeBytes(of: UInt32(place).littleEndian, Array.init))
        file.append(contentsOf: copy)
        #expect(try registry.decode(file).animation?.frameCount == (isPage ? 3 : 2))
    }

    @Test func unsupportedBitDepthIsNamedInError() throws {
        let entries = [
            (256, 3, 1, 4), (257, 3, 1, 4), (258, 3, 1, 20), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8),
            (277, 3, 1, 1), (278, 3, 1, 4), (279, 4, 1, 24),
        ]
        let error = #expect(throws: CodecError.self) { try registry.decode(file(entries, pixels: 100)) }
        #expect(error?.description.contains("20") == true)
    }
}
