import Foundation
import Halcyon
import HalcyonCodecs
import Testing

/// A coder of one's own, as docs/Coders.md shows it.
@Suite struct QOICoderTests {
    /// Seven pixels, one in each of the format's ways: red, the same twice more, a little different, more different,
    /// half-transparent blue, and red again by its number.
    private static var file: Data {
        let pixels: [UInt8] = [
            0xFE, 200, 10, 20, 0xC1, 0x7F, 0xA5, 0x99, 0xFF, 0, 0, 255, 128, 0x3F & index(200, 10, 20, 255),
        ]
        return Data("qoif".utf8) + [0, 0, 0, 7, 0, 0, 0, 1, 4, 0] + pixels + [0, 0, 0, 0, 0, 0, 0, 1]
    }

    private static func index(_ r: Int, _ g: Int, _ b: Int, _ a: Int) -> UInt8 {
        UInt8((r * 3 + g * 5 + b * 7 + a * 11) % 64)
    }

    private static let pixels: [UInt8] = [
        20, 10, 200, 255, 20, 10, 200, 255, 20, 10, 200, 255, 21, 11, 201, 255, 27, 16, 207, 255, 128, 0, 0, 128,
        20, 10, 200, 255,
    ]

    private let coders = CoderRegistry([QOICoder()])

    @Test func decodes() throws {
        let image = try Image(data: Self.file, coders: coders)
        #expect(image.info.format == .qoi)
        #expect(image.size == PixelSize(7, 1))
        #expect(image.withPixels { [UInt8]($0) } == Self.pixels)
    }

    @Test func encodedPixelsAreDecodedBack() throws {
        let image = try Image(width: 7, height: 1, pixels: Self.pixels)
        let data = try image.data(as: .qoi, coders: coders)
        #expect(try Image(data: data, coders: coders).withPixels { [UInt8]($0) } == Self.pixels)
    }

    @Test func aFileIsWrittenByItsExtension() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-qoi-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let image = try Image(width: 7, height: 1, pixels: Self.pixels)
        let coders = CoderRegistry.standard()
        let file = folder.appending(path: "sky.QOI")
        #expect(throws: CodecError.self) { try image.write(to: file, coders: coders) }
        coders.add(QOICoder())
        try image.write(to: file, coders: coders)
        let written = try Image(contentsOf: file, coders: coders)
        #expect(written.info.format == .qoi)
        #expect(written.withPixels { [UInt8]($0) } == Self.pixels)
    }

    @Test func everyCutIsAnError() throws {
        // The last eight bytes say nothing.
        for count in 0..<Self.file.count - 8 {
            #expect(throws: CodecError.self) { try Image(data: Self.file.prefix(count), coders: coders) }
        }
    }

    @Test func aHugeHeaderIsRefusedBeforeAnythingIsAllocated() {
        var file = Self.file
        for offset in 4..<12 { file[offset] = 0xFF }
        #expect(throws: CodecError.self) { try Image(data: file, coders: coders) }
    }

    @Test func coderIsAddedAndRemovedAtRunTime() throws {
        let coders = CoderRegistry.standard()
        #expect(!coders.canDecode(Self.file))
        let registration = coders.add(QOICoder())
        #expect(coders.canDecode(Self.file) && coders.canEncode(.qoi))
        #expect(coders.decodableFormats.first == .qoi)
        coders.remove(registration)
        #expect(!coders.canDecode(Self.file) && !coders.canEncode(.qoi))
    }

    @Test func coderIsShorterThanHundredLines() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let lines = try ["QOICoder.swift", "QOIPixels.swift"].map {
            try String(contentsOf: folder.appending(path: $0), encoding: .utf8).split(separator: "\n").count
        }
        #expect(lines.reduce(0, +) < 100)
    }
}
