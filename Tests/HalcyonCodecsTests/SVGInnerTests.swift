import Foundation
import HalcyonImage
import HalcyonSystem
import Testing

@testable import HalcyonCodecs

/// Drawings in `data:` addresses inside of drawings, as in the badges of repositories.
@Suite(.timeLimit(.minutes(5))) struct SVGInnerTests {
    private let registry = CoderRegistry.standard()

    private static let space = "xmlns='http://www.w3.org/2000/svg'"
    private static let logo =
        "<svg \(space) viewBox='0 0 24 24'><rect width='11' height='24' fill='#f00'/><rect x='11' width='13' height='24' fill='#0000ff'/></svg>"

    private static func address(_ inner: String, type: String = "image/svg+xml;base64,") -> String {
        "data:\(type)\(Data(inner.utf8).base64EncodedString())"
    }

    private static func image(_ inner: String, _ attributes: String = "width='10' height='10'") -> String {
        "<image \(attributes) href='\(address(inner))'/>"
    }

    private func decode(_ body: String, before: String = "", side: Int = 10) throws -> Bitmap {
        let target = TargetSize(PixelSize(side, side), upscale: true)
        return try registry.decode(Drawing.document(body, before: before), options: DecodeOptions(target: target))
            .bitmap
    }

    private func error(_ body: String, before: String = "") -> CodecError? {
        #expect(throws: CodecError.self) { try registry.decode(Drawing.document(body, before: before)) }
    }

    /// The pixels of the address are those of the drawing in its place, in every way to write it.
    @Test(arguments: [
        "data:image/svg+xml;base64,\(Data(logo.utf8).base64EncodedString())",
        "data:image/svg+xml;charset=utf-8;base64,\(Data(logo.utf8).base64EncodedString())",
        "data:image/svg+xml;utf8;base64,\(Data(logo.utf8).base64EncodedString())",
        "data:;base64,\(Data(logo.utf8).base64EncodedString())",
        " DaTa:IMAGE/SVG+XML ; BASE64 ,\n\(Data(logo.utf8).base64EncodedString())",
        "data:image/svg+xml,\(logo.replacing("#f00", with: "red").replacing("#0000ff", with: "blue").replacing("<", with: "%3C").replacing(">", with: "%3E").replacing("'", with: "%27"))",
        "data:image/svg+xml;utf8,\(logo.replacing("#", with: "%23").replacing("<", with: "&lt;").replacing("'", with: "&quot;"))",
        "data:image/svg+xml;base64,\(Gzip.packed(Data(logo.utf8)).base64EncodedString())",
    ])
    func aDrawingInsideIsDrawn(_ address: String) throws {
        for name in ["href", "xlink:href"] {
            let bitmap = try decode("<image width='10' height='10' \(name)='\(address)'/>", side: 240)
            #expect(bitmap.pixel(x: 0, y: 0).map { [$0.red, $0.blue, $0.alpha] } == [255, 0, 255])
            // Sharp at the size that it is drawn at.
            #expect(bitmap.pixel(x: 109, y: 120).map { [$0.red, $0.blue, $0.alpha] } == [255, 0, 255])
            #expect(bitmap.pixel(x: 110, y: 120).map { [$0.red, $0.blue, $0.alpha] } == [0, 255, 255])
            #expect(bitmap.pixel(x: 239, y: 239).map { [$0.red, $0.blue, $0.alpha] } == [0, 255, 255])
        }
    }

    /// The same by an `svg` element in the place of the image.
    @Test(arguments: [
        ("width='6' height='6' x='2' y='2'", "width='6' height='6' x='2' y='2'"),
        ("width='5' height='10'", "width='5' height='10'"), ("width='10'", "width='10' height='10'"),
        ("height='5'", "width='5' height='5'"), ("", "width='24' height='24'"),
        ("width='100%' height='50%'", "width='10' height='5'"),
        ("width='10' height='5' preserveAspectRatio='none'", "width='10' height='5' preserveAspectRatio='none'"),
        (
            "width='10' height='5' preserveAspectRatio='xMidYMid slice'",
            "width='10' height='5' preserveAspectRatio='xMidYMid slice'"
        ),
    ])
    func theImageIsPlacedAsASubdrawing(_ image: String, _ element: String) throws {
        let side = 120
        let found = try decode(Self.image(Self.logo, image), side: side)
        let expected = try decode(Self.logo.replacing("<svg ", with: "<svg \(element) "), side: side)
        var differing = 0
        for (first, second) in zip(found.bytes, expected.bytes) where abs(Int(first) - Int(second)) > 8 {
            differing += 1
        }
        // Where an edge falls between pixels.
        #expect(differing <= side * 4 * 4, "\(differing)")
        #expect(expected.bytes.contains { $0 != 0 })
    }

    @Test func theWaysOfABadge() throws {
        let logo = Self.logo
        for body in [
            "<g transform='scale(2)'>\(Self.image(logo, "width='5' height='5'"))</g>",
            "<g transform='matrix(0 1 -1 0 10 0)'>\(Self.image(logo))</g>",
            "<svg viewBox='0 0 1 1' width='10' height='10'>\(Self.image(logo, "width='1' height='1'"))</svg>",
            "<defs><g id='a'>\(Self.image(logo))</g></defs><use href='#a'/>",
            "<a href='data:text/html,a' xmlns:q='urn:q' q:href='data:,b'>\(Self.image(logo))</a>",
            "<style>image { opacity: 1 }</style>\(Self.image(logo))<text>&#60;&#38;\"'</text>",
            "<filter id='f' x='0' y='0' width='1' height='1'><feImage href='\(Self.address(logo))'/></filter><rect width='10' height='10' filter='url(#f)'/>",
        ] {
            let bitmap = try decode(body, side: 100)
            #expect(bitmap.pixel(x: 10, y: 10).map { $0.red > 250 && $0.alpha > 250 } == true, "\(body)")
        }
    }

    @Test func twoLevelsAreDrawnAndNotThree() throws {
        var inner = "<svg \(Self.space) width='9' height='9'><rect width='9' height='9' fill='red'/></svg>"
        for level in 1...4 {
            let body = Self.image(inner)
            if level <= 2 {
                #expect(try decode(body).pixel(x: 5, y: 5)?.red == 255)
            } else {
                #expect(error(body)?.code == "limitExceeded")
            }
            inner = "<svg \(Self.space) width='9' height='9'>\(body)</svg>"
        }
    }

    /// The checks inside are those outside.
    @Test func nothingHidesInside() {
        for refused in SVGDisguiseTests.refused {
            let data = Drawing.document(Self.image(refused.text))
            #expect(throws: CodecError.self, "\(refused)") { try registry.decode(data) }
        }
    }

    @Test(arguments: [
        "no drawing", "", "<svg", "<html/>", "<svg xmlns='http://www.w3.org/2000/svg' width='0' height='0'/>",
    ])
    func damageInsideIsDamage(_ inner: String) {
        #expect(error(Self.image(inner))?.code == "damagedImage")
        #expect(throws: CodecError.self) { try registry.probe(Drawing.document(Self.image(inner))) }
    }

    @Test func allOfThemCountTogether() {
        let many = "<svg \(Self.space)>\(String(repeating: "<g/>", count: 60_000))</svg>"
        #expect(throws: Never.self) { try registry.decode(Drawing.document(Self.image(many))) }
        #expect(error(String(repeating: Self.image(many), count: 4))?.code == "limitExceeded")
        let ten = (1...3).map { level in
            "<g id='a\(level)'>\(String(repeating: "<use href='#a\(level - 1)'/>", count: 20))</g>"
        }.joined()
        let work = "<svg \(Self.space)><rect id='a0'/>\(ten)</svg>"
        #expect(throws: Never.self) { try registry.probe(Drawing.document(Self.image(work))) }
        #expect(error(String(repeating: Self.image(work), count: 30))?.code == "limitExceeded")
        let small = Self.image("<svg \(Self.space)/>")
        #expect(throws: Never.self) { try registry.decode(Drawing.document(String(repeating: small, count: 256))) }
        #expect(error(String(repeating: small, count: 257))?.code == "limitExceeded")
        let bomb = Gzip.packed(Drawing.document("<desc>\(String(repeating: "0", count: 1_000_000))</desc>"))
        let packed = "<image href='data:image/svg+xml;base64,\(bomb.base64EncodedString())'/>"
        #expect(error(String(repeating: packed, count: 40))?.code == "limitExceeded")
    }

    @Test func picturesInsideCount() throws {
        let huge = try Fixture.read("bombs/60000x60000.png").base64EncodedString()
        let inner = "<svg \(Self.space)><image href='data:image/png;base64,\(huge)'/></svg>"
        let error = #expect(throws: CodecError.self) { try registry.plan(Drawing.document(Self.image(inner))) }
        #expect(error?.code == "limitExceeded")
    }

    /// A drawing of enormous size takes no more than the canvas around it calls for.
    @Test func theSizeInsideCostsNothing() throws {
        for size in [
            "width='1e6' height='1e6'", "width='1e6' height='1e-3'", "viewBox='0 0 1e9 1e9'",
            "width='1e30' height='1e30'",
        ] {
            let inner = "<svg \(Self.space) \(size)><rect width='100%' height='100%' fill='red'/></svg>"
            for attributes in ["width='10' height='10'", "width='1e9' height='1e9'", "", "width='NaN'", "width='-1'"] {
                for outer in ["", "transform='scale(1e30)'", "transform='scale(0)'"] {
                    let data = Drawing.document("<g \(outer)>\(Self.image(inner, attributes))</g>")
                    _ = try? registry.decode(data)
                    #expect(try registry.plan(data).workingBytes < 1 << 20)
                }
            }
        }
        let large = DecodeOptions(target: TargetSize(PixelSize(4000, 4000), upscale: true))
        let many = Drawing.document(String(repeating: Self.image(Self.logo), count: 100))
        #expect(try registry.plan(many, options: large).workingBytes < 4000 * 4000 * 4 + (4 << 20) * 40)
        #expect(try registry.decode(many, options: large).bitmap.pixel(x: 100, y: 100)?.red == 255)
    }

    /// Pixels that do not pack would exceed the parser's limit on attributes at the full size.
    @Test func noiseInsideFits() throws {
        let noise =
            "<filter id='f'><feTurbulence baseFrequency='0.9'/></filter><rect width='10' height='10' filter='url(#f)'/>"
        let bitmap = try decode(Self.image("<svg \(Self.space) viewBox='0 0 10 10'>\(noise)</svg>"), side: 2500)
        #expect(bitmap.size == PixelSize(2500, 2500))
        #expect(bitmap.bytes.contains { $0 != 0 })
    }

    @Test func nothingOutsideIsReadFromInside() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).png")
        try Fixture.read("png/rgb8.png").write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let picture = try Fixture.read("png/rgb8.png").base64EncodedString()
        func isBlank(_ address: String) throws -> Bool {
            let image = "<image width='9' height='9' href='\(address)' xlink:href='\(address)'/>"
            let inner =
                "<svg \(Self.space) xmlns:xlink='http://www.w3.org/1999/xlink' width='9' height='9'>\(image)</svg>"
            return try decode(Self.image(inner)).bytes.allSatisfy { $0 == 0 }
        }
        #expect(try !isBlank("data:image/png;base64,\(picture)"))
        for address in [file.absoluteString, file.path, "../../../..\(file.path)", "file://localhost\(file.path)", "#"]
        {
            #expect(try isBlank(address), "\(address)")
        }
    }

    @Test func drawingsInsideAreReserved() throws {
        let options = DecodeOptions(target: TargetSize(PixelSize(500, 500), upscale: true))
        let alone = try registry.plan(Drawing.document("<g/>"), options: options).workingBytes
        #expect(
            try registry.plan(Drawing.document(Self.image(Self.logo)), options: options).workingBytes > alone + 500
                * 500 * 8)
    }

    /// The enclosing document is written anew, which nobody is to see.
    @Test func theRestOfTheDocumentStaysAsItIs() throws {
        let rest = """
            <style>/* a &lt; b */ .c > rect { fill: #0f0 } text { font-family: "a&amp;b" }</style><!-- "- a comment -->
            <s:g xmlns:s='http://www.w3.org/2000/svg' class='c'><s:rect width='4' height='4'/></s:g>
            <g xml:space='preserve'><text y='9' font-size='4'>a &lt;&amp;  <tspan fill='red'>b</tspan>]]&gt;<![CDATA[<c>]]></text></g>
            <x:y xmlns:x='urn:x' x:href='#a'/><linearGradient id='l'><stop stop-color='&c;'/></linearGradient>
            <path d='M5 5h5&#10;v5' fill='url("#l")' data-a='&lt;"&#9;'/>
            """
        let before = "<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY c '#00f'>]>"
        let empty = Self.image("<svg \(Self.space)/>", "width='1' height='1'")
        let plain = try decode(rest, before: before, side: 64)
        #expect(try decode(rest + empty, before: before, side: 64).bytes == plain.bytes)
        #expect(plain.bytes.contains { $0 != 0 })
    }

    @Test func referencesInsideStayInside() throws {
        let inner =
            "<svg \(Self.space) width='10' height='10'><style>rect{fill:#0000ff}</style><rect id='a' width='4' height='4'/></svg>"
        let bitmap = try decode(
            "\(Self.image(inner))<rect x='6' width='4' height='4' fill='red'/><use href='#a' y='6'/>")
        #expect(bitmap.pixel(x: 8, y: 1)?.red == 255)
        #expect(bitmap.pixel(x: 1, y: 1)?.blue == 255)
        #expect(bitmap.pixel(x: 1, y: 8)?.alpha == 0)
    }
}
