import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Files that lack or contradict what no pixel depends on: end marks and checksums. Browsers show them.
@Suite struct MissingEndTests {
    let registry = CoderRegistry.standard()

    private func arrived(_ data: Data) throws -> Image {
        let decoding = try #require(registry.makeProgressive(for: data))
        for start in stride(from: 0, to: data.count, by: 100) {
            try decoding.append(data[start..<min(start + 100, data.count)])
        }
        return try decoding.finish(context: .uncancellable)
    }

    @Test(arguments: [
        ("jpeg/gray.jpg", 2), ("jpeg/gray.jpg", 1), ("jpeg/progressive.jpg", 2), ("png/rgb8.png", 12),
        ("png/rgb8.png", 5), ("png/rgb8.png", 16), ("png/adam7-rgba.png", 12), ("png/rgba16.png", 12),
    ])
    func anEndMarkMayBeMissing(file: String, bytes: Int) throws {
        let data = try Fixture.read(file)
        let whole = try registry.decode(data).bitmap.bytes
        #expect(try registry.decode(data.dropLast(bytes)).bitmap.bytes == whole)
        #expect(try arrived(Data(data.dropLast(bytes))).bitmap.bytes == whole)
    }

    /// A byte of the pixels, or a scan of a progressive file, may not.
    @Test(arguments: ["jpeg/gray.jpg", "jpeg/progressive.jpg", "png/rgb8.png", "png/adam7-rgba.png"])
    func pixelsMayNotBeMissing(file: String) throws {
        let data = try Fixture.read(file)
        for cut in [data.prefix(data.count - 40), data.prefix(data.count * 3 / 4)] {
            #expect(throws: CodecError.self) { try registry.decode(cut) }
            #expect(throws: CodecError.self) { try arrived(Data(cut)) }
        }
    }

    @Test func aScanMayNotBeMissing() throws {
        let data = try Fixture.read("jpeg/progressive.jpg")
        // Every start of a scan but the first.
        let scans = data.indices.dropLast().filter { data[$0] == 0xFF && data[$0 + 1] == 0xDA }.dropFirst()
        #expect(scans.count > 2)
        for scan in scans {
            #expect(throws: CodecError.self) { try registry.decode(data[..<scan]) }
            #expect(throws: CodecError.self) { try arrived(Data(data[..<scan])) }
            // With an end mark it is a file of fewer scans.
            #expect(throws: Never.self) { try registry.decode(data[..<scan] + [0xFF, 0xD9]) }
        }
    }

    @Test func checksumsOfPixelsAreIgnored() throws {
        let whole = try registry.decode(Fixture.read("png/rgb8.png")).bitmap.bytes
        #expect(try registry.decode(Fixture.read("bad/bad-crc.png")).bitmap.bytes == whole)
        var data = try Fixture.read("png/rgb8.png")
        // The end of the pixels is their Adler sum; the checksum of the chunk, then the end chunk follow.
        data[data.count - 17] ^= 0x55
        #expect(try registry.decode(data).bitmap.bytes == whole)
        #expect(try arrived(data).bitmap.bytes == whole)
    }

    @Test func theHeadersChecksumCounts() throws {
        var data = try Fixture.read("png/rgb8.png")
        data[19] ^= 1
        #expect(throws: CodecError.damaged(.png, reason: "its header is damaged")) { try registry.decode(data) }
        #expect(throws: CodecError.damaged(.png, reason: "its header is damaged")) { try registry.probe(data) }
    }
}
