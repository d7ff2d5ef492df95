import HalcyonImage
import HalcyonProcessing
import TestSupport
import Testing

@Suite struct BlurHashErrorTests {
    @Test(
        arguments: [
            ("", .tooShort(characters: 0)), ("0", .tooShort(characters: 1)), ("00000", .tooShort(characters: 5)),
            ("00000é", .invalidCharacter("é", at: 5)), ("!00000", .invalidCharacter("!", at: 0)),
            ("0 0000", .invalidCharacter(" ", at: 1)), ("00TI:\"", .invalidCharacter("\"", at: 5)),
            ("00000\u{0}", .invalidCharacter("\u{0}", at: 5)), ("00000\r\n", .invalidCharacter("\r\n", at: 5)),
            ("0000000", .wrongLength(characters: 7, expected: 6)),
            ("LEHV6nWB2yk8pyo0adR*.7kCMdn", .wrongLength(characters: 27, expected: 28)),
            ("LEHV6nWB2yk8pyo0adR*.7kCMdnj ", .wrongLength(characters: 29, expected: 28)),
            ("LEHV6nWB2yk8pyo0adR*.7kCMdn\u{301}", .wrongLength(characters: 27, expected: 28)),
            ("LEHV6nWB2yk8pyo0adR*.7kCMdn\u{301}j", .invalidCharacter("n\u{301}", at: 26)),
            ("|00000", .wrongLength(characters: 6, expected: 166)), ("}00000", .invalidSizeFlag("}")),
            ("~00000", .invalidSizeFlag("~")), ("00TSUB", .invalidValue(at: 2)), ("00~~~~", .invalidValue(at: 2)),
            ("100000~r", .invalidValue(at: 6)), ("100000~~", .invalidValue(at: 6)),
            ("200000fQ~~", .invalidValue(at: 8)), ("👩‍👩‍👧‍👦00000", .invalidCharacter("👩‍👩‍👧‍👦", at: 0)),
        ] as [(String, BlurHashError)])
    func aBadTextSaysWhatIsWrong(text: String, error: BlurHashError) {
        #expect(throws: error) { try BlurHash(text) }
    }

    @Test func theLargestValuesAreGood() throws {
        #expect(try BlurHash("00TSUA").averageColor == .white)
        let text = "|~TSUA" + String(repeating: "~q", count: 80)
        let hash = try BlurHash(text)
        #expect((hash.componentsX, hash.componentsY) == (9, 9))
        #expect(try hash.image(PixelSize(5, 5))[0, 0] == [255, 255, 255, 255])
        #expect(try BlurHash(encoding: flat(1, 1, [255, 255, 255, 255]), componentsX: 9, componentsY: 9) == hash)
    }

    @Test(arguments: [0, -1, 10, Int.max, Int.min]) func componentsAreOneToNine(count: Int) throws {
        let image = try flat(4, 4)
        #expect(throws: BlurHashError.invalidComponents(x: count, y: 3)) {
            try BlurHash(encoding: image, componentsX: count)
        }
        #expect(throws: BlurHashError.invalidComponents(x: 4, y: count)) {
            try BlurHash(encoding: image, componentsY: count)
        }
    }

    @Test(arguments: [0, -1, 4097, Int.max, Int.min]) func sidesThatNoImageHasAreRefused(side: Int) throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        for size in [PixelSize(side, 5), PixelSize(5, side), PixelSize(side, side)] {
            #expect(throws: BlurHashError.invalidSize(size)) { try hash.image(size) }
        }
    }

    @Test func theLongestSideIsDrawn() throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        for size in [PixelSize(BlurHash.maximumSide, 1), PixelSize(1, 4096)] {
            let plain = PlainBlurHash.pixels(hash.text, size)
            try expect(hash.image(size), size, within: 1) { plain[max($0, $1)] }
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func aPunchIsANumber(punch: Double) throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        #expect {
            try hash.image(punch: punch)
        } throws: { error in
            if case .invalidPunch = error as? BlurHashError { true } else { false }
        }
    }

    @Test func punchIsContrast() throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        func contrast(_ punch: Double) throws -> Int {
            let greens = try hash.image(punch: punch).bytes.enumerated().filter { $0.offset & 3 == 1 }.map(\.element)
            return Int(greens.max() ?? 0) - Int(greens.min() ?? 0)
        }
        #expect(try contrast(0) == 0)
        #expect(try hash.image(punch: 0).averageColor() == hash.averageColor)
        #expect(try contrast(0.5) < contrast(1))
        #expect(try contrast(1) < contrast(2))
        for punch in [1e6, 1e300, .greatestFiniteMagnitude, -.greatestFiniteMagnitude] {
            #expect(try contrast(punch) == 255)
        }
        #expect(try hash.image(punch: .leastNonzeroMagnitude).bytes == hash.image(punch: 0).bytes)
    }

    @Test func transparentImageIsEncodedAsBackground() throws {
        let clear = try flat(20, 10, [0, 0, 0, 0])
        func text(_ image: Image, _ color: Color) throws -> String {
            try BlurHash(encoding: image, componentsX: 2, componentsY: 2, background: color).text
        }
        let white = try flat(20, 10, [255, 255, 255, 255])
        #expect(try BlurHash(encoding: clear) == BlurHash(encoding: white))
        // Its own alpha does not count, nor what is beyond the ends.
        #expect(
            try text(clear, Color(red: 2, green: -1, blue: 0, alpha: 0))
                == text(flat(20, 10, [0, 0, 255, 255]), .white))
        // Half of green over blue.
        let half = try flat(20, 10, [0, 128, 0, 128])
        #expect(try text(half, Color(red: 0, green: 0, blue: 1)) == text(flat(20, 10, [127, 128, 0, 255]), .black))
        // An opaque image hides the background.
        #expect(try text(flat(20, 10), .black) == text(flat(20, 10), .white))
    }

    @Test func partlyTransparentPixelsAreLaidOnTheBackground() throws {
        let image = try noise(31, 17)
        let laid = try HalcyonProcessingTests.image(
            31, 17,
            stride(from: 0, to: image.bytes.count, by: 4).flatMap { offset -> [UInt8] in
                let rest = 255 - Double(image.bytes[offset + 3])
                // 0.2, 0.4 and 1 of blue, green and red.
                let background: [Double] = [51, 102, 255]
                let colors = (0..<3).map {
                    UInt8((Double(image.bytes[offset + $0]) + background[$0] * rest / 255).rounded())
                }
                return colors + [255]
            })
        let hash = try BlurHash(encoding: image, background: Color(red: 1, green: 0.4, blue: 0.2))
        #expect(hash.text == PlainBlurHash.text(laid, 4, 3))
    }

    @Test(arguments: [Double.nan, .infinity]) func aBackgroundIsNumbers(channel: Double) throws {
        let image = try flat(4, 4)
        #expect(throws: BlurHashError.invalidBackground) {
            try BlurHash(encoding: image, background: Color(red: 0, green: channel, blue: 0))
        }
    }

    @Test func everyErrorHasAText() {
        let errors: [BlurHashError] = [
            .tooShort(characters: 2), .invalidCharacter("\n", at: 3), .invalidSizeFlag("~"),
            .wrongLength(characters: 7, expected: 6), .invalidValue(at: 2), .invalidComponents(x: 0, y: 3),
            .invalidSize(PixelSize(0, 1)), .invalidPunch(.infinity), .invalidBackground,
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect("\(errors[1])" == "\"\\n\" at 3 is not a base 83 digit")
        #expect("\(errors[3])" == "7 characters in a BlurHash that begins as one of 6")
    }

    /// Nothing that a server sends brings the program down.
    @Test func anyTextIsReadOrRefused() throws {
        var random = SplitMix(state: 83)
        var good = 0
        for round in 0..<10_000 {
            let text = Self.text(round, &random)
            do {
                let hash = try BlurHash(text)
                good += 1
                #expect(hash.text == text)
                #expect(text.count == 4 + 2 * hash.componentsX * hash.componentsY)
                #expect(hash.averageColor.clamped == hash.averageColor)
                let size = PixelSize(Int.random(in: 1...4, using: &random), Int.random(in: 1...4, using: &random))
                let punch = Double.random(in: -1e3...1e3, using: &random)
                let image = try hash.image(size, punch: round.isMultiple(of: 2) ? 1 : punch)
                #expect(image.size == size)
                #expect(try BlurHash(encoding: image, componentsX: 2, componentsY: 1).text.count == 8)
            } catch let error as BlurHashError {
                #expect(!error.description.isEmpty)
            }
        }
        #expect((1_000..<9_000).contains(good))
    }

    /// By turns characters of any kind, digits, digits of a length that fits, and a good text with one thing changed.
    private static func text(_ round: Int, _ random: inout SplitMix) -> String {
        func digits(_ count: Int) -> String {
            String((0..<count).map { _ in PlainBlurHash.alphabet.randomElement(using: &random) ?? "0" })
        }
        switch round % 4 {
        case 0:
            let scalars = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x3000, using: &random)) ?? "0"
            }
            return String(String.UnicodeScalarView(scalars))
        case 1: return digits(Int.random(in: 0...200, using: &random))
        case 2:
            let flag = Int.random(in: 0...82, using: &random)
            // The average begins low enough to be one, mostly.
            let head = String(PlainBlurHash.alphabet[flag]) + digits(1) + "A" + digits(3)
            return head + digits(2 * ((flag % 9 + 1) * (flag / 9 + 1) - 1))
        default:
            var characters = Array(BlurHashTests.published.randomElement(using: &random) ?? "")
            let place = Int.random(in: 0..<characters.count, using: &random)
            if round.isMultiple(of: 3) {
                characters.remove(at: place)
            } else {
                characters[place] = Character(digits(1))
            }
            return String(characters)
        }
    }
}
