import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

@Suite struct SniffingTests {
    private static func isoMedia(_ major: String, _ compatible: [String] = []) -> [UInt8] {
        let length = UInt8(16 + 4 * compatible.count)
        return [0, 0, 0, length] + Array("ftyp\(major)\0\0\0\0\(compatible.joined())".utf8) + [9, 9, 9, 9]
    }

    private static let images: [(ImageFormat, [UInt8])] = [
        (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0]),
        (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        (.gif, Array("GIF87a".utf8)), (.gif, Array("GIF89a".utf8)),
        (.webp, Array("RIFF\u{1}\u{2}\0\0WEBPVP8 ".utf8)),
        (.tiff, [0x49, 0x49, 42, 0]), (.tiff, [0x4D, 0x4D, 0, 42]), (.tiff, [0x49, 0x49, 43, 0]),
        (.raw, Array("II*\0\u{10}\0\0\0CR\u{2}\0".utf8)), (.raw, Array("IIRO".utf8)), (.raw, Array("MMOR".utf8)),
        (.raw, Array("IIU\0".utf8)), (.raw, Array("FUJIFILMCCD-RAW 0201".utf8)), (.raw, isoMedia("crx ", ["isom"])),
        (.jpegXL, [0xFF, 0x0A]),
        (.jpegXL, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        (.ico, [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 104, 4, 0, 0, 22, 0, 0, 0]),
        (.bmp, Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40, 0, 0, 0]),
        (.heic, isoMedia("heic")), (.heic, isoMedia("mif1", ["heic"])), (.heic, isoMedia("msf1", ["hevc"])),
        (.avif, isoMedia("avif")), (.avif, isoMedia("mif1", ["miaf", "avif"])), (.avif, isoMedia("avis")),
        (.svg, Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)),
        (.svg, Array("\u{FEFF}<?xml version=\"1.0\"?>\n<!-- a <b> -->\n<!DOCTYPE svg PUBLIC>\n<svg>".utf8)),
        (.svg, Array("<?xml version='1.0'?><s:svg>".utf8)),
    ]

    @Test(arguments: images)
    func knowsImages(_ format: ImageFormat, _ bytes: [UInt8]) {
        #expect(FormatSniffer.sniff(Data(bytes)) == .image(format))
        #expect(FormatSniffer.format(of: Data(bytes)) == format)
    }

    private static let others: [(String, [UInt8])] = [
        ("empty", []),
        ("an HTML page", Array("<!DOCTYPE html><html><body><svg></svg>".utf8)),
        ("an HTML page", Array("\n  <HTML>".utf8)), ("an HTML page", Array("<h1>502 Bad Gateway</h1>".utf8)),
        ("XML", Array("<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>".utf8)),
        ("JSON", Array(" {\"error\": 404}".utf8)), ("JSON", Array("[]".utf8)),
        ("plain text", Array("Not Found".utf8)), ("plain text", Array("BM is how bitmaps begin".utf8)),
        ("blank text", Array(" \n".utf8)),
        ("an MP4 movie", isoMedia("isom", ["mp41"])), ("a QuickTime movie", isoMedia("qt  ")),
        ("a PDF document", Array("%PDF-1.7\n%".utf8) + [0xE2, 0xE3]),
        ("gzip data", [0x1F, 0x8B, 8, 0, 0]), ("a ZIP archive", [0x50, 0x4B, 3, 4, 20, 0]),
        ("a RIFF file (WAVE)", Array("RIFF\u{1}\u{2}\0\0WAVEfmt ".utf8)),
        ("too short to be an image", [0xFF]), ("too short to be an image", [0xFF, 0xD8]),
        ("of an unknown format", [UInt8](repeating: 0, count: 64)),
    ]

    @Test(arguments: others)
    func saysWhatIsNoImage(_ what: String, _ bytes: [UInt8]) {
        #expect(FormatSniffer.sniff(Data(bytes)) == .other(what))
        #expect(throws: CodecError.self) { try CoderRegistry.standard().decode(Data(bytes)) }
    }

    @Test(arguments: Fixture.all)
    func knowsEveryFixture(_ fixture: Fixture) throws {
        #expect(try FormatSniffer.format(of: fixture.data())?.name == fixture.format)
    }

    /// A cut may fall into a character.
    @Test func textMayBeCutAnywhere() {
        let text = Array(("<p>" + String(repeating: "ö€😀", count: 2000)).utf8)
        for length in 4000..<4200 {
            #expect(FormatSniffer.sniff(Data(text.prefix(length))) == .other("an HTML page"))
        }
    }

    /// The first 4,096 bytes of a text tell its kind; what comes behind them is not looked at.
    @Test func fourKibibytesOfATextCount() {
        func sniff(_ text: [UInt8], zeroAt place: Int, unit: Int = 1) -> SniffResult {
            var bytes = text
            bytes.replaceSubrange(place..<place + unit, with: [UInt8](repeating: 0, count: unit))
            return FormatSniffer.sniff(Data(bytes))
        }
        let text = Array(("<p>" + String(repeating: "a", count: 9000)).utf8)
        #expect(sniff(text, zeroAt: 4096) == .other("an HTML page"))
        #expect(sniff(text, zeroAt: 4095) == .other("of an unknown format"))
        // In UTF-16 these are half as many characters.
        let wide: [UInt8] = [0xFF, 0xFE] + text.flatMap { [$0, 0] }
        #expect(sniff(wide, zeroAt: 4096, unit: 2) == .other("an HTML page"))
        #expect(sniff(wide, zeroAt: 4094, unit: 2) == .other("of an unknown format"))
    }

    @Test func arbitraryBytesAreSafe() {
        var random = FixedGenerator(state: 1)
        for (_, bytes) in Self.images + Self.others.map({ (ImageFormat.png, $0.1) }) {
            for length in 0...bytes.count { _ = FormatSniffer.sniff(Data(bytes.prefix(length))) }
            for _ in 0..<50 where !bytes.isEmpty {
                var changed = bytes
                changed[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                _ = FormatSniffer.sniff(Data(changed))
            }
        }
    }
}
