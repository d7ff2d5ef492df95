import Foundation
import Halcyon
import HalcyonCodecs
import Testing

/// A coder of one's own, as docs/Coders.md shows it.
@Suite struct FarbfeldCoderTests {
    /// Red, and half-transparent blue.
    private static var file: Data {
        Data("farbfeld".utf8) + [0, 0, 0, 2, 0, 0, 0, 1]
            + [200, 200, 20, 20, 10, 10, 255, 255, 0, 0, 0, 0, 255, 255, 128, 128]
    }
    private static let pixels: [UInt8] = [10, 20, 200, 255, 128, 0, 0, 128]

    private let coders = CoderRegistry([FarbfeldCoder()])

    @Test func decodes() throws {
        let image = try Image(data: Self.file, coders: coders)
        #expect(image.info.format == .farbfeld)
        #expect(image.size == PixelSize(2, 1))
        #expect(image.withPixels { [UInt8]($0) } == Self.pixels)
    }

    @Test func encodedPixelsAreDecodedBack() throws {
        let image = try Image(width: 2, height: 1, pixels: Self.pixels)
        let data = try image.data(as: .farbfeld, coders: coders)
        #expect(data == Self.file)
        #expect(try Image(data: data, coders: coders).withPixels { [UInt8]($0) } == Self.pixels)
    }

    @Test func aFileIsWrittenByItsExtension() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-coder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let image = try Image(width: 2, height: 1, pixels: Self.pixels)
        let coders = CoderRegistry.standard()
        let file = folder.appending(path: "sky.FF")
        #expect(throws: CodecError.self) { try image.write(to: file, coders: coders) }
        coders.add(FarbfeldCoder())
        try image.write(to: file, coders: coders)
        let written = try Image(contentsOf: file, coders: coders)
        #expect(written.info.format == .farbfeld)
        #expect(written.withPixels { [UInt8]($0) } == Self.pixels)
    }

    @Test func everyCutIsAnError() {
        for count in 0..<Self.file.count {
            #expect(throws: CodecError.self) { try Image(data: Self.file.prefix(count), coders: coders) }
        }
    }

    @Test func aHugeHeaderIsRefusedBeforeAnythingIsAllocated() {
        var file = Self.file
        for offset in 8..<16 { file[offset] = 0xFF }
        #expect(throws: CodecError.self) { try Image(data: file, coders: coders) }
    }

    @Test func coderIsAddedAndRemovedAtRunTime() throws {
        let coders = CoderRegistry.standard()
        #expect(!coders.canDecode(Self.file))
        let registration = coders.add(FarbfeldCoder())
        #expect(coders.canDecode(Self.file) && coders.canEncode(.farbfeld))
        #expect(coders.decodableFormats.first == .farbfeld)
        coders.remove(registration)
        #expect(!coders.canDecode(Self.file) && !coders.canEncode(.farbfeld))
    }

    @Test func coderIsShorterThanHundredLines() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "FarbfeldCoder.swift")
        #expect(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count < 100)
    }
}
