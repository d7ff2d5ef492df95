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

    private static let large: [(String, Data)] = [
        ("PNM", Data("P6 60000 60000 255\n".utf8) + Data(count: 100)),
        ("bits", Data("P4 60000 60000\n".utf8) + Data(count: 100)),
        ("PNM beyond all integers", Data("P6 9999999999 9999999999 255\n".utf8)),
        ("a line", Data("P5 99999 1 255\n".utf8) + Data(count: 99_999)),
        ("TGA", tga(60_000, 60_000)), ("packed TGA", tga(65_535, 65_535, kind: 10)),
        ("XPM", Data("/* XPM */ static char *a[] = {\"50000 50000 1 1\",\"a c #000000\"};".utf8)),
        ("XBM", Data("#define a_width 50000\n#define a_height 50000\nstatic char a_bits[] = {0};".utf8)),
    ]

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
    private static let empty: [(String, Data)] = [
        ("PNM", Data("P6 4000 4000 255\n".utf8)), ("text", Data("P3 4000 4000 255\n1 2 3 ".utf8)),
        ("TGA", tga(4000, 4000)), ("packed TGA", tga(4000, 4000, kind: 10)),
        ("XPM", Data("/* XPM */ static char *a[] = {\"4000 4000 1 1\",\"a c #000000\"};".utf8)),
        ("XPM of short rows", Data("/* XPM */ static char *a[] = {\"3 1 1 1\",\"a c #000000\",\"aa\"};".utf8)),
        ("XPM of many colors", Data("/* XPM */ static char *a[] = {\"1 1 2000000000 1\",\"a c #000000\",\"a\"};".utf8)),
        ("XBM", Data("#define a_width 4000\n#define a_height 4000\nstatic char a_bits[] = {0x00, ".utf8)),
    ]

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
