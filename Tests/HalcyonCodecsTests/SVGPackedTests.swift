import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// Drawings that are packed with gzip, as `svgz` files are.
@Suite(.timeLimit(.minutes(5))) struct SVGPackedTests {
    private let registry = CoderRegistry.standard()
    private let square = Drawing.document("<rect width='9' height='9' fill='#f00'/>")

    private func error(_ data: Data) -> CodecError? {
        #expect(throws: CodecError.self) { try registry.decode(data) }
    }

    @Test func aPackedDrawingIsDrawn() throws {
        let packed = Gzip.packed(square)
        #expect(FormatSniffer.format(of: packed) == .svg)
        #expect(try registry.probe(packed) == registry.probe(square))
        #expect(try registry.decode(packed).bitmap.bytes == registry.decode(square).bitmap.bytes)
        #expect(try registry.decode(packed).info.format == .svg)
        let target = DecodeOptions(target: TargetSize(PixelSize(80, 80), upscale: true))
        #expect(try registry.decode(packed, options: target).size == PixelSize(80, 80))
        // There are no previews of it, as of no drawing.
        #expect(registry.makeProgressive(for: packed) == nil)
        #expect(try registry.plan(packed).workingBytes >= registry.plan(square).workingBytes)
    }

    @Test(arguments: [
        "<?xml version='1.0' encoding='UTF-16'?>", "<!-- \(String(repeating: "long ", count: 100_000)) -->",
        "<!DOCTYPE svg [<!ENTITY a 'b'>]>", "",
    ])
    func whatStandsBeforeItMayBeLong(_ before: String) throws {
        let document = Drawing.document("<rect width='9' height='9' fill='#f00'/>", before: before)
        let text = try #require(String(data: document, encoding: .utf8))
        let data = before.contains("UTF-16") ? try #require(text.data(using: .utf16)) : document
        #expect(try registry.decode(Gzip.packed(data)).bitmap.pixel(x: 4, y: 4)?.red == 255)
    }

    /// As gzip allows; what follows the last member is ignored, as behind any drawing.
    @Test func membersAreOneDocument() throws {
        let cut = square.count / 2
        let parts = [square.prefix(cut), square.dropFirst(cut)].map { Gzip.packed(Data($0)) }
        let expected = try registry.decode(square).bitmap.bytes
        #expect(try registry.decode(parts[0] + parts[1]).bitmap.bytes == expected)
        #expect(try registry.decode(Gzip.packed(Data()) + parts[0] + parts[1]).bitmap.bytes == expected)
        #expect(try registry.decode(parts[0] + parts[1] + Data(repeating: 0, count: 9)).bitmap.bytes == expected)
        #expect(error(parts[0] + parts[1].dropLast(4))?.code == "damagedImage")
    }

    @Test func otherPackedDataIsNoDrawing() {
        for text in [
            "", "a text", "<html><svg/></html>", "<a/>", "{}", "<!-- \(String(repeating: "a", count: 3 << 20))",
        ] {
            let packed = Gzip.packed(Data(text.utf8))
            #expect(FormatSniffer.sniff(packed) == .other("gzip data"))
            #expect(error(packed) == .notAnImage("gzip data"))
        }
        #expect(error(Gzip.packed(Gzip.packed(square))) == .notAnImage("gzip data"))
        #expect(error(Gzip.packed(Data([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]))) == .notAnImage("gzip data"))
    }

    @Test func cutAndChangedDataIsDamaged() {
        // Long enough that the beginning is recognized before the end.
        let rects = (0..<4000).map { "<rect x='\($0 * 7919 % 10007)' width='\($0 * 104_729 % 5003)'/>" }.joined()
        let packed = Gzip.packed(Drawing.document(rects))
        #expect(throws: Never.self) { try registry.decode(packed) }
        for length in stride(from: packed.count - 1, to: 0, by: -997) {
            let code = error(packed.prefix(length))?.code
            #expect(code == "damagedImage" || code == "notAnImage", "\(length)")
        }
        for offset in [packed.count - 8, packed.count - 5, packed.count - 4, packed.count - 1] {
            var changed = packed
            changed[offset] ^= 1
            #expect(error(changed)?.code == "damagedImage")
            #expect(throws: CodecError.self) { try registry.probe(changed) }
        }
        var random = FixedGenerator(state: 7)
        for _ in 0..<40 {
            var changed = packed
            changed[Int.random(in: 0..<packed.count, using: &random)] = .random(in: 0...255, using: &random)
            _ = try? registry.decode(changed)
        }
    }

    @Test func bombsAreRefused() throws {
        // A document of 20 MiB in 20 KiB.
        let zeros = Drawing.document("<desc>\(String(repeating: "0", count: 20 << 20))</desc>")
        #expect(error(Gzip.packed(zeros))?.code == "limitExceeded")
        // And one of 40 MiB, which pack badly.
        var random = FixedGenerator(state: 3)
        let noise = (0..<(5 << 20)).map { _ in UInt8.random(in: 0x40...0x5A, using: &random) }
        let many = String(repeating: String(decoding: noise, as: UTF8.self), count: 8)
        let large = Gzip.packed(Drawing.document("<desc>\(many)</desc>"))
        #expect(large.count > 20 << 20)
        #expect(
            error(large) == .limitExceeded("bytes of an unpacked drawing", value: (32 << 20) + 1, limit: 32 << 20))
        #expect(throws: CodecError.self) { try registry.probe(large) }
    }

    /// The checks of a packed document are those of any other.
    @Test func packingHidesNothing() {
        for refused in SVGDisguiseTests.refused {
            let packed = Gzip.packed(Data(refused.text.utf8))
            #expect(throws: CodecError.self, "\(refused)") { try registry.decode(packed) }
        }
    }

    @Test func emptyBlocksEnd() {
        // Header, then stored blocks of nothing.
        let blocks =
            Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]) + Data((0..<(5 << 20)).map { [0, 0, 0, 0xFF, 0xFF][$0 % 5] })
        #expect(error(blocks) == .notAnImage("gzip data"))
    }
}
