import HalcyonImage
import Testing

@Suite struct ColorTests {
    @Test(
        arguments: [
            ("#fff", 255, 255, 255, 255), ("000", 0, 0, 0, 255), ("#1aF", 0x11, 0xAA, 0xFF, 255),
            ("#1aF8", 0x11, 0xAA, 0xFF, 0x88), ("10203040", 0x10, 0x20, 0x30, 0x40), ("#C0ffEE", 0xC0, 0xFF, 0xEE, 255),
            ("#00000000", 0, 0, 0, 0),
        ] as [(String, Int, Int, Int, Int)])
    func hexadecimalDigitsAreRead(text: String, red: Int, green: Int, blue: Int, alpha: Int) {
        func unit(_ byte: Int) -> Double { Double(byte) / 255 }
        #expect(
            Color(hex: text) == Color(red: unit(red), green: unit(green), blue: unit(blue), alpha: unit(alpha)))
    }

    @Test(arguments: [
        "", "#", "1", "#12", "12345", "#1234567", "123456789", "##fff", "fff#", "#ggg", "-fff", "+ff", " fff", "fff ",
        "0xfff", "#ff\u{301}f", "#👍👍👍", "white", "#fff\n", "# fff", "rgb(1,2,3)",
    ])
    func malformedHexTextIsRejected(text: String) {
        #expect(Color(hex: text) == nil)
    }

    @Test func colorDescriptionIsParsedBack() {
        for text in ["#000000", "#ffffff", "#0a141e", "#0a141e28", "#00000000", "#ffffff01"] {
            #expect(Color(hex: text)?.description == text)
        }
        for byte in 0...255 {
            let color = Color(white: Double(byte) / 255, alpha: Double(255 - byte) / 255)
            #expect(Color(hex: color.description) == color)
        }
    }

    @Test func theDescriptionHasEachChannel() {
        #expect("\(Color.black) \(Color.white) \(Color.clear)" == "#000000 #ffffff #00000000")
        #expect("\(Color(red: 1, green: 0.5, blue: 0))" == "#ff8000")
        // A value beyond the ends is clamped to them; a value that is not a number has no digits.
        #expect("\(Color(red: 7, green: -7, blue: 1e300, alpha: 2))" == "#ff00ff")
        #expect("\(Color(white: 0, alpha: 0.999))" == "#000000ff")
        for bad in [Double.nan, .infinity, -.infinity] {
            #expect("\(Color(red: bad, green: 0, blue: 0))" == "#?")
            #expect("\(Color(white: 0, alpha: bad))" == "#?")
        }
    }

    @Test func premultipliedBytesAreDivided() {
        func color(_ blue: UInt8, _ green: UInt8, _ red: UInt8, _ alpha: UInt8) -> Color {
            Color(premultipliedBlue: blue, green: green, red: red, alpha: alpha)
        }
        #expect(color(0, 51, 255, 255) == Color(red: 1, green: 0.2, blue: 0))
        #expect(color(0, 25, 50, 50) == Color(red: 1, green: 0.5, blue: 0, alpha: 50.0 / 255))
        #expect(color(1, 1, 1, 1) == Color(white: 1, alpha: 1.0 / 255))
        // No colour exceeds its alpha, and nothing has none.
        #expect(color(200, 100, 50, 100) == Color(red: 0.5, green: 1, blue: 1, alpha: 100.0 / 255))
        #expect(color(0, 0, 0, 0) == .clear)
        #expect(color(9, 9, 9, 0) == .clear)
    }

    @Test func premultipliedBytesComeBack() {
        for alpha in UInt8(1)...255 {
            for value in 0...alpha {
                let color = Color(premultipliedBlue: value, green: 0, red: alpha, alpha: alpha)
                #expect(UInt8((color.blue * color.alpha * 255).rounded()) == value)
                #expect(color.red == 1 && color.green == 0)
            }
        }
    }

    @Test func theKeyIsOfTheChannels() {
        func key(_ color: Color) -> [UInt8] {
            var encoder = KeyEncoder()
            encoder.encode(color)
            return encoder.bytes
        }
        #expect(key(.white) == key(Color(red: 1, green: 1, blue: 1, alpha: 1)))
        let others = [
            Color.white, .black, .clear, Color(red: 1, green: 0, blue: 0), Color(red: 0, green: 1, blue: 0),
            Color(red: 0, green: 0, blue: 1), Color(white: 1, alpha: 0.5),
        ]
        #expect(Set(others.map(key)).count == others.count)
    }

    @Test func coloursAreOpaqueByDefault() {
        #expect(Color(white: 0.3).alpha == 1)
        #expect(Color(red: 0.1, green: 0.2, blue: 0.3).alpha == 1)
        #expect(Color(white: 0.3) == Color(red: 0.3, green: 0.3, blue: 0.3, alpha: 1))
    }
}
