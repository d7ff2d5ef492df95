import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Files for the loaders of gdk-pixbuf that are cut off, changed, or declare what they do not have.
@Suite(.timeLimit(.minutes(10))) struct GdkPixbufDamageTests {
    private let registry = CoderRegistry.standard()
    private let options = GdkPixbufTests.options
    /// `HALCYON_SOAK` runs the full counts.
    private static let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil

    /// Decodes, and expects an image or an error with a type.
    private func decode(_ data: Data, _ comment: String) throws -> Image? {
        do {
            return try registry.decode(data, options: options)
        } catch let error as CodecError {
            // A worker that a loader has taken down is an error of that file alone.
            let codes = ["damagedImage", "notAnImage", "unsupportedFormat", "limitExceeded", "decoderStopped"]
            #expect(codes.contains(error.code), "\(comment): \(error)")
        } catch let error as BitmapError {
            guard case .outOfMemory = error else { throw error }
        }
        return nil
    }

    @Test(arguments: GdkPixbufTests.fixtures)
    func everyPrefixIsWholeOrDamaged(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let whole = try registry.decode(data, options: options).bitmap.bytes
        for length in stride(from: 0, to: data.count, by: max(1, data.count / 400)) + [data.count - 1] {
            guard let image = try decode(data.prefix(length), "\(length)") else { continue }
            #expect(image.bitmap.bytes == whole, "\(fixture.file) to \(length)")
            // The number of an image, and the footer of a TGA, are behind the pixels.
            #expect(["tga", "xpm", "xbm", "ani"].contains(fixture.format), "\(fixture.file) to \(length)")
        }
    }

    @Test(arguments: ["pnm", "tga", "xpm", "xbm", "icns", "ani"])
    func changedBytesAreSafe(_ format: String) throws {
        var random = FixedGenerator(state: 7)
        let files = try GdkPixbufTests.fixtures.filter { $0.format == format }.map { try $0.data() }
        for round in 0..<(Self.isSoak ? 20_000 : 400) {
            var data = files[round % files.count]
            // The header is where most is to be found.
            let part = round % 2 == 0 ? min(64, data.count) : data.count
            for _ in 0...round % 4 {
                let position = Int.random(in: 0..<part, using: &random)
                data[position] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try decode(data, "round \(round)")
        }
        // The workers go on.
        #expect(try registry.decode(files[0], options: options).bitmap.byteCount > 0)
    }

    // MARK: - Lies

    private static var large: [(String, Data)] {
        [
            ("PNM", Data("P6 60000 60000 255\n".utf8) + Data(count: 100)),
            ("bits", Data("P4 60000 60000\n".utf8) + Data(count: 100)),
            ("PNM beyond all integers", Data("P6 9999999999 9999999999 255\n".utf8)),
            ("a line", Data("P5 99999 1 255\n".utf8) + Data(count: 99_999)),
            ("TGA", tga(60_000, 60_000)), ("packed TGA", tga(65_535, 65_535, kind: 10)),
            ("XPM", Data("/* XPM */ static char *a[] = {\"50000 50000 1 1\",\"a c #000000\"};".utf8)),
            (
                "XPM of many colors",
                Data("/* XPM */ static char *a[] = {\"1 1 2000000000 1\",\"a c #000000\",\"a\"};".utf8)
            ),
            ("XBM", Data("#define a_width 50000\n#define a_height 50000\nstatic char a_bits[] = {0};".utf8)),
        ]
    }

    private static func tga(_ width: Int, _ height: Int, kind: UInt8 = 2) -> Data {
        let sizes = [width, height].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        return Data([0, 0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0] + sizes + [24, 0x20]) + Data(count: 100)
    }

    @Test(arguments: large)
    func largeSizesAreRefusedByTheHeader(_ name: String, _ data: Data) throws {
        let error = #expect(throws: CodecError.self) { try registry.decode(data, options: options) }
        #expect(error?.code == "limitExceeded", "\(name)")
    }

    /// Within the limits, but without the pixels.
    private static var empty: [(String, Data)] {
        [
            ("PNM", Data("P6 4000 4000 255\n".utf8)), ("text", Data("P3 4000 4000 255\n1 2 3 ".utf8)),
            ("TGA", tga(4000, 4000)), ("packed TGA", tga(4000, 4000, kind: 10)),
            ("XPM", Data("/* XPM */ static char *a[] = {\"4000 4000 1 1\",\"a c #000000\"};".utf8)),
            ("XPM of short rows", Data("/* XPM */ static char *a[] = {\"3 1 1 1\",\"a c #000000\",\"aa\"};".utf8)),
            ("XPM of many colors", Data("/* XPM */ static char *a[] = {\"1 1 30000 1\",\"a c #000000\",\"a\"};".utf8)),
            ("XBM", Data("#define a_width 4000\n#define a_height 4000\nstatic char a_bits[] = {0x00, ".utf8)),
        ]
    }

    @Test(arguments: empty)
    func whatIsMissingIsDamage(_ name: String, _ data: Data) throws {
        let error = #expect(throws: CodecError.self) { try registry.decode(data, options: options) }
        #expect(error?.code == "damagedImage", "\(name): \(error.map { "\($0)" } ?? "")")
    }

    /// The loader reads packed colours on behind their end.
    @Test func packedColorsOfAnIconMustBeThere() throws {
        let mask = GdkPixbufTests.element("s8mk", Data(repeating: 255, count: 256))
        for colors in [Data(), Data([0x80]), Data([255, 1, 255, 2]), Data(repeating: 255, count: 11)] {
            let icon = GdkPixbufTests.element("icns", GdkPixbufTests.element("is32", colors) + mask)
            let error = #expect(throws: CodecError.self) { try registry.decode(icon, options: options) }
            #expect(error == .damaged(.icns, reason: "its colors were cut off"))
        }
    }

    /// The first pixel of 128 x 128 may be black, in bytes that are those which some writers put before the colours.
    @Test(arguments: [false, true]) func aBlackPixelOfAnIconIsNoPrefix(_ hasPrefix: Bool) throws {
        let area = 128 * 128
        let color = Self.repeating([0, 200, 100, 50], count: area - 1)
        let image = try registry.decode(
            Self.icon(Data(count: hasPrefix ? 8 : 4) + color), options: options)
        let bytes = image.bitmap.bytes
        #expect(Array(bytes.prefix(8)) == [0, 0, 0, 255, 50, 100, 200, 255])
        #expect(Array(bytes.suffix(4)) == [50, 100, 200, 255])
    }

    @Test func packedColorsOfALargeIconMustBeThere() throws {
        let (short, colors) = (Self.plane(200), Self.plane(200) + Self.plane(100) + Self.plane(50))
        for prefix in [Data(), Data(count: 4)] {
            let bytes = try registry.decode(Self.icon(prefix + colors), options: options).bitmap.bytes
            #expect(Array(bytes.prefix(4)) == [50, 100, 200, 255] && bytes.suffix(4) == bytes.prefix(4))
            // Four zeros are a prefix once, and then colours.
            for colors in [colors.dropLast(), short, Data(count: 4), Data(count: 100)] {
                let error = #expect(throws: CodecError.self) {
                    try registry.decode(Self.icon(prefix + colors), options: options)
                }
                #expect(error == .damaged(.icns, reason: "its colors were cut off"))
            }
        }
        // The length of whole pixels, and packed colours that would end behind it.
        let bytes = Data(count: 4) + Self.repeating([0, 0x80], count: 32_766)
        let image = try registry.decode(Self.icon(bytes), options: options)
        #expect(Array(image.bitmap.bytes.suffix(4)) == [0x80, 0, 0x80, 255])
    }

    private static func repeating(_ bytes: [UInt8], count: Int) -> Data {
        Data([[UInt8]](repeating: bytes, count: count).joined())
    }

    /// Packed colours of 128 x 128 pixels: runs of 130, and one of four.
    private static func plane(_ value: UInt8) -> Data { repeating([0xFF, value], count: 126) + Data([0x81, value]) }

    private static func icon(_ colors: Data) -> Data {
        let mask = GdkPixbufTests.element("t8mk", Data(repeating: 255, count: 128 * 128))
        return GdkPixbufTests.element("icns", GdkPixbufTests.element("it32", colors) + mask)
    }

    /// The loader takes the entries' bits for the pixels', and would show memory that is not the file's.
    @Test(arguments: [2, 3, 10, 11] as [UInt8]) func aPaletteThatNoPixelUsesIsRefused(_ kind: UInt8) throws {
        let isGray = kind & 1 == 1
        let header: [UInt8] = [0, 1, kind, 0, 0, 1, 0, 32, 0, 0, 0, 0, 16, 0, 16, 0, isGray ? 8 : 24, 0x20]
        let data = Data(header) + Data(count: 4 + 1024)
        let error = #expect(throws: CodecError.self) { try registry.probe(data) }
        #expect(error?.code == "damagedImage" && "\(error.map { "\($0)" } ?? "")".contains("palette"))
    }

    private static func xpm(_ header: String, colors: [String], rows: String, before: String = "") -> Data {
        let colors = colors.map { "\"\($0)\",\n" }.joined()
        return Data("/* XPM */\n\(before)static char *a[] = {\n\"\(header)\",\n\(colors)\(rows)};\n".utf8)
    }

    private static var lies: [(String, Data)] {
        [
            ("a row", xpm("2 1 1 1", colors: ["a c None"], rows: "\"a\0\"")),
            ("a color", xpm("1 1 1 1", colors: ["a c \0None"], rows: "\"a\"")),
            ("a comment", xpm("2 2 1 1", colors: ["a c None"], rows: "\"aa\", /* \"x\" */ \"aa\"")),
            ("the first row", xpm("2 1 1 1", colors: ["a c None"], rows: "/* \"x\" */ \"aa\"")),
        ]
    }

    @Test(arguments: lies) func stringsThatTheLoaderReadsInAnotherWayAreRefused(_ name: String, _ data: Data) throws {
        let error = #expect(throws: CodecError.self) { try registry.decode(data, options: options) }
        #expect(error?.code == "damagedImage", "\(name)")
        let reason = "\(error.map { "\($0)" } ?? "")"
        #expect(reason.contains("zero") || reason.contains("quotation mark"), "\(name): \(reason)")
    }

    @Test func commentsOfAnXPMAreNoPartOfIt() throws {
        let data = Self.xpm(
            "2 1 1 1", colors: ["a c #ff0000"], rows: "/* pixels */\n\"aa\"", before: "/* { \"5 5 1 1\" */ ")
        #expect(try registry.probe(data).size == PixelSize(2, 1))
        #expect(Array(try registry.decode(data, options: options).bitmap.bytes) == [0, 0, 255, 255, 0, 0, 255, 255])
    }

    /// The loader would compare each name with all the others.
    @Test func colorsOfOneHashAreRefused() throws {
        var names = [""]
        for _ in 0..<12 { names = names.flatMap { [$0 + "ab", $0 + "bA"] } }
        let rows = "\"\(names[0])\""
        let all = names.map { $0 + " c #123456" }
        let data = Self.xpm("1 1 \(names.count) 24", colors: all, rows: rows)
        let error = #expect(throws: CodecError.self) { try registry.decode(data, options: options) }
        #expect(error == .damaged(.xpm, reason: "the names of its colors are not sound"))
        let some = Self.xpm("1 1 64 24", colors: Array(all.prefix(64)), rows: rows)
        #expect(try Array(registry.decode(some, options: options).bitmap.bytes) == [0x56, 0x34, 0x12, 255])
    }

    /// A palette that does not begin with the first colour would be shown in wrong colours.
    @Test func kindsThatALoaderMistakesAreRefused() throws {
        var data = try Fixture.read("pixbuf/palette.tga")
        data[3] = 1
        let error = #expect(throws: CodecError.self) { try registry.probe(data) }
        #expect(error?.code == "damagedImage")
    }

    @Test func theMemoryIsReserved() throws {
        let data = Data("P6 2000 1000 255\n".utf8) + Data(count: 6_000_000)
        let plan = try registry.plan(data, options: options)
        // The bitmap, the loader's pixels, and the file, of which the worker gets a copy.
        #expect(plan.workingBytes >= 2 * 8_000_000 + 6_000_000)
        let small = DecodeBudget(capacity: 10_000_000)
        let coders = CoderRegistry.standard(budget: small)
        let error = #expect(throws: CodecError.self) { try coders.decode(data, options: options) }
        #expect(error?.code == "limitExceeded")
    }
}
