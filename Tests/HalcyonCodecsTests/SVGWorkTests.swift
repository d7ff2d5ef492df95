import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSVG

/// Drawings of few elements that take long: by their letters, by what they are painted with, by dashes.
@Suite(.timeLimit(.minutes(5))) struct SVGWorkTests {
    private let registry = CoderRegistry.standard()

    private func decode(_ body: String) throws -> Image { try registry.decode(Drawing.document(body)) }

    private func isRefused(_ body: String) -> Bool {
        do {
            _ = try decode(body)
            return false
        } catch {
            return (error as? CodecError)?.code == "limitExceeded"
        }
    }

    // MARK: Letters and paints

    /// librsvg lays the letters of a line out in the square of their number, and of a text all at once.
    @Test(arguments: [
        "<text>\(letters(12_000))</text>",
        "<text>\(String(repeating: "<tspan>\(letters(4000))</tspan>", count: 12))</text>",
        "<text>\(letters(6000))<!-- -->\(letters(6000))</text>",
        "<text>\(letters(6000))<![CDATA[\(letters(6000))]]></text>",
        String(repeating: "<text>\(letters(100))</text>", count: 4000),
        "<text><a><tspan>\(letters(12_000))</tspan></a></text>",
        "<defs><desc id='d'>\(letters(12_000))</desc></defs><text><tref xlink:href='#d'/></text>",
        "<text id='t'>\(letters(100))</text>" + String(repeating: "<use href='#t'/>", count: 5000),
    ])
    func textThatTakesLongIsRefused(_ body: String) {
        #expect(isRefused(body))
    }

    private static func letters(_ count: Int) -> String { String(repeating: "a", count: count) }

    /// Symbols have up to twenty times as many edges as letters, and large letters more points.
    @Test(arguments: [
        "<text>\(String(repeating: "\u{2603}", count: 900))</text>",
        "<text>\(String(repeating: "&#x2328;", count: 900))</text>",
        "<text>\(String(repeating: "\u{1F600}", count: 900))</text>",
        "<text>\(String(repeating: "\u{F101}", count: 900))</text>",
        "<text font-size='6400'>\(letters(2500))</text>",
        "<text style='font-size: 40em'>\(letters(4000))</text>",
        "<style>text { font: 6400px serif }</style><text>\(letters(2500))</text>",
    ])
    func linesOfLongOutlinesAreRefused(_ body: String) { #expect(isRefused(body)) }

    /// A screen of a terminal, a line of Chinese, and a sign of letters.
    @Test(arguments: [
        String(
            repeating: "<text y='9'>\(String(repeating: "\u{2588}\u{2592}\u{2502}\u{2014}", count: 40))</text>",
            count: 50),
        String(repeating: "<text y='9'>\(String(repeating: "\u{2713}", count: 80))</text>", count: 40),
        "<text>\(String(repeating: "\u{6F22}\u{5B57}", count: 300))</text>",
        "<text font-size='900'>\(letters(300))</text>",
    ])
    func linesAsPeopleWriteThemAreDrawn(_ body: String) throws {
        #expect(try decode(body).size == PixelSize(10, 10))
    }

    @Test func textOfEntitiesIsRefused() throws {
        let data = try Fixture.read("hostile/text-of-entities.svg")
        let error = #expect(throws: CodecError.self) { try registry.decode(data) }
        #expect(error?.code == "limitExceeded")
    }

    /// A map with names, a text of many lines, and text that is not drawn.
    @Test(arguments: [
        String(repeating: "<text>\(letters(15))</text>", count: 2000),
        "<text>\(String(repeating: "<tspan x='0' dy='9'>\(letters(80))</tspan>", count: 300))</text>",
        "<title>\(letters(1_000_000))</title>", "<style>/* \(letters(1_000_000)) */</style>",
    ])
    func textAsPeopleWriteItIsDrawn(_ body: String) throws {
        #expect(try decode(body).size == PixelSize(10, 10))
    }

    @Test func textIsReserved() throws {
        let long = Drawing.document("<text>\(Self.letters(4000))</text><text>\(Self.letters(3000))</text>")
        #expect(try registry.plan(long).workingBytes >= 4000 * 18 << 10)
        #expect(try registry.plan(long).workingBytes < 7000 * 18 << 10)
        let lines = Drawing.document(
            "<text>\(String(repeating: "<tspan>\(Self.letters(40))</tspan>", count: 100))</text>")
        #expect(try registry.plan(lines).workingBytes >= 4000 << 10)
        #expect(try registry.plan(lines).workingBytes < 4000 * 2 << 10)
        let many = Drawing.document(String(repeating: "<g/>", count: 10_000))
        #expect(try registry.plan(many).workingBytes >= 10_000 * 2 << 10)
        let small = CoderRegistry(registry.coders, budget: DecodeBudget(capacity: 4000 * 18 << 10))
        #expect(throws: CodecError.self) { try small.decode(long) }
    }

    /// The outlines of symbols, and of large letters; a character may be split between two reads of the parser.
    @Test(arguments: [0, 1, 2, 3]) func symbolsAreReserved(shift: Int) throws {
        func bytes(_ letter: String, _ count: Int, size: Int = 16) throws -> Int {
            let text = Self.letters(shift) + String(repeating: letter, count: count)
            return try registry.plan(Drawing.document("<text font-size='\(size)'>\(text)</text>")).workingBytes
        }
        #expect(try bytes("\u{2603}", 500) >= 500 * 10 * 18 << 10)
        #expect(try bytes("\u{2500}", 500) < 500 * 4 * 18 << 10)
        #expect(try bytes("a", 2000, size: 6400) >= 2000 * 10 * 18 << 10)
    }

    /// A paint server is drawn for each of the elements that it paints.
    @Test(arguments: [
        "<g fill='url(#p)'>\(shapes(2100))</g>", "<g style='fill:url(#p)'>\(shapes(2100))</g>",
        "<g id='g'>\(shapes(2100))</g><use href='#g' fill='url(#p)'/>",
        "<g fill='url(#p)'>\(String(repeating: "<use href='#r'/>", count: 2100))</g><rect id='r' width='9' height='9'/>",
        "<style>rect { fill: url(#p) }</style>\(shapes(2100))",
        "<path marker-mid='url(#p)' d='M0 0\(String(repeating: "h1", count: 2100))'/>",
        "<path style='MARKER: url(#p)' d='M0 0\(String(repeating: "h1", count: 2100))'/>",
        "<g marker-mid='url(#p)'><polyline points='\(String(repeating: "1 1 ", count: 2100))'/></g>",
        "<style>path { marker: url(#p) }</style><path d='M0 0\(String(repeating: "h1", count: 2100))'/>",
    ])
    func paintThatIsDrawnForEachCounts(_ body: String) throws {
        for element in ["pattern width='9' height='9'", "marker markerWidth='3' markerHeight='3'"] {
            let paint = "<\(element) id='p'>\(Self.shapes(1000))</\(element.prefix { $0 != " " })>"
            #expect(isRefused(paint + body))
            let plain = "<\(element) id='p'>\(Self.shapes(3))</\(element.prefix { $0 != " " })>"
            #expect(try decode(plain + body).size == PixelSize(10, 10))
        }
    }

    /// The points of a path count for markers alone, and letters are no rules.
    @Test(arguments: [
        "<style>path { fill: url(#p) }</style>", "<text>path { marker: url(#p) }</text>",
        "<style>rect { fill: red }</style><text>:lang(en-x-a) { marker: url(#p) }</text>",
    ])
    func pointsWithoutMarkersAreCheap(_ body: String) throws {
        let paint = "<pattern width='9' height='9' id='p'>\(Self.shapes(400))</pattern>"
        let path = "<path d='M0 0\(String(repeating: "h1", count: 2100))'/>"
        #expect(try decode(paint + body + path).size == PixelSize(10, 10))
        #expect(isRefused(paint + "<style>path { marker: url(#p) }</style>" + path))
    }

    private static func shapes(_ count: Int) -> String {
        String(repeating: "<rect width='9' height='9'/>", count: count)
    }

    // MARK: Dashes

    /// Cairo makes each dash before it looks whether it is seen.
    @Test(arguments: [
        "<path d='M0 0H1e9' stroke='red' stroke-dasharray='1e-2'/>",
        "<path d='M0 0H1e9L1e999 0L1e999 0' stroke='red' stroke-dasharray='1e-2'/>",
        "<path d='M0 0h1e9' stroke='red' style='stroke-dasharray:1e-2'/>",
        "<g stroke-dasharray='.01,.01' stroke='red'><path d='M0 0\(String(repeating: "H1e6H0", count: 99))'/></g>",
        "<style>path { STROKE-DASHARRAY : .5px }</style><path stroke='red' d='M0 0V8e7'/>",
        "<style>path { stroke-d\\61sharray: .5 }</style><path stroke='red' d='M0 0V8e7'/>",
        "<style>path { /* : */ stroke-dasharray: .5 }</style><path stroke='red' d='M0 0V8e7'/>",
        "<style>path { stroke-dasharray/*;*/: .5 }</style><path stroke='red' d='M0 0V8e7'/>",
        "<style>path { stroke-dasharray: /*;*/ .5 }</style><path stroke='red' d='M0 0V8e7'/>",
        "<style>@x '/*'; path { stroke-dasharray/*;*/: .5 } @x '*/'</style><path stroke='red' d='M0 0V8e7'/>",
        "<path id='p' d='M0 0H8e7' stroke='red'/><use href='#p' stroke-dasharray='1'/>",
        "<path d='M0 0C8e7 0 8e7 8e7 0 0' stroke='red' stroke-dasharray='1'/>",
        "<path d='m0 0q8e7 0 0 0\(String(repeating: "t0 0", count: 9))' stroke='red' stroke-dasharray='1'/>",
        "<path d='M0 0A8e7 8e7 0 11 1 1' stroke='red' stroke-dasharray='1'/>",
        "<path d='M0 0A1 1e-7 0 00 100 100' stroke='red' stroke-dasharray='1'/>",
        "<polyline points='0,0 8e7,0' stroke='red' stroke-dasharray='1'/>",
        "<circle r='1e7' stroke='red' stroke-dasharray='1'/>",
        "<circle r='1e6in' stroke='red' stroke-dasharray='1'/>",
        "<rect width='8e7' height='1' stroke='red' stroke-dasharray='1'/>",
        "<line x2='8e7' stroke='red' stroke-dasharray='1'/>",
        "<style>circle { r: 1e7; stroke-dasharray: 1 }</style><circle stroke='red'/>",
        "<ellipse style='rx:1e7' ry='1' stroke='red' stroke-dasharray='1'/>",
        "<svg viewBox='0 0 1e9 1e9'><circle r='100%' stroke='red' stroke-dasharray='1'/></svg>",
        "<svg viewBox='0 0 1e-6 1e-6'><path d='M0 0H100' stroke='red' stroke-dasharray='1%'/></svg>",
        "<path d='M0 0H100' font-size='1e-9' stroke='red' stroke-dasharray='1em'/>",
        "<text font-size='1e9' stroke='red' stroke-dasharray='1'>a</text>",
        "<text style='font:bold 1e9px serif' stroke='red' stroke-dasharray='1'>a</text>",
        "<g font-size='1e3em'><text style='font-size:1e6%' stroke='red' stroke-dasharray='1'>a</text></g>",
        "<style>g { font-size: 2em }</style><path stroke-dasharray='1'/>"
            + "\(String(repeating: "<g>", count: 40))<text>a</text>\(String(repeating: "</g>", count: 40))",
        "<style>a { font: larger serif } circle { r: 1em }</style><path stroke-dasharray='1'/>"
            + "\(String(repeating: "<a>", count: 200))<circle/>\(String(repeating: "</a>", count: 200))",
        "<path stroke-dasharray='1'/><text id='t0'>a</text>"
            + (1...30).map { "<use id='t\($0)' href='#t\($0 - 1)' style='font-size:2em'/>" }.joined(),
        "<path d='M0 0H1000' stroke='red' stroke-dasharray='1e-9 1e-9 0 0 0 0 0 0 0 0'/>",
        "<path vector-effect='non-scaling-stroke' transform='scale(1e9)' d='M0 0H1' stroke='red' stroke-dasharray='1'/>",
    ])
    func dashesThatTakeLongAreRefused(_ body: String) {
        #expect(isRefused(body))
    }

    @Test(arguments: [
        "<path d='M0 0H1e9' stroke='red'/>", "<path d='M0 0H1e9' stroke='red' stroke-dasharray='none'/>",
        "<path d='M0 0H1e9' stroke='red' stroke-dasharray='0 0'/>",
        "<path d='\(String(repeating: "M0 0L1000 1000", count: 1000))' stroke='red' stroke-dasharray='3 2'/>",
        "<path d='\(String(repeating: "M5000 5000a9 9 0 0 1 1 1", count: 1000))' stroke-dasharray='3,2'/>",
        "<path d='M0 0A1e5 1e5 0 0 0 10 10' stroke-dasharray='3'/>",
        "<style>/* a: */ :root { fill: red } /* b */ path { fill: red /* c */; stroke-dasharray: 3 }</style><path d='M0 0H9'/>",
        "<metadata>\(letters(1_000_000))</metadata><path d='M0 0H9' stroke='red' stroke-dasharray='.1'/>",
        String(repeating: "<text style=\"font: 10px 'DejaVu Sans', Helvetica, sans-serif\">0.5</text>", count: 100)
            + "<path d='M0 0H9' stroke='red' stroke-dasharray='3.7,1.6'/>",
        "<circle r='45%' stroke='red' stroke-dasharray='75%, 100%'/>",
        "<path vector-effect='non-scaling-stroke' d='M0 0H700' stroke='red' stroke-dasharray='5px,5px'/>",
        String(repeating: "<text font-size='30'>\(letters(15))</text>", count: 300) + "<path stroke-dasharray='3'/>",
        String(repeating: "<text font-size='150%'>\(letters(15))</text>", count: 300) + "<path stroke-dasharray='3'/>",
        "<style>text { font-size: 1.5em }</style><path stroke-dasharray='3'/><g><path id='p' d='M0 0H9'/></g>"
            + String(repeating: "<g><g><use href='#p'/><text>\(letters(9))</text></g></g>", count: 100),
    ])
    func dashesAsPeopleWriteThemAreDrawn(_ body: String) throws {
        #expect(try decode(body).size == PixelSize(10, 10))
    }

    @Test func dashesAreReserved() throws {
        let long = Drawing.document("<path d='M0 0H1e6' stroke='red' stroke-dasharray='1'/>")
        #expect(try registry.plan(long).workingBytes >= 1_000_000 * SVGDashes.dashBytes / 2)
    }

    /// Five dashes, each with its gap, cost as much as a small shape, of which two million are the most.
    @Test func fiveDashesAreAShape() throws {
        func line(_ length: String) -> Data {
            Drawing.document("<path d='M0 0H\(length)' stroke='red' stroke-dasharray='1'/>")
        }
        let error = #expect(throws: CodecError.self) { try registry.plan(line("3e7")) }
        #expect(error?.code == "limitExceeded")
        #expect(try registry.plan(line("1e7")).info.size == PixelSize(10, 10))
        // Half a million dashes more, of 130 bytes.
        let more = try registry.plan(line("2e6")).workingBytes - registry.plan(line("1e6")).workingBytes
        #expect((64_000_000...66_000_000).contains(more))
    }

    /// References that mean thousands of elements each: nothing of it is drawn, but to count it takes long.
    @Test func referencesThatTakeLongToCountAreRefused() throws {
        let targets = String(repeating: "<linearGradient id='a'/>", count: 2300)
        let drawing = Drawing.document(targets + String(repeating: "<use href='#a'/>", count: 2300))
        #expect(throws: CodecError.limitExceeded("elements in use", value: 5_000_000, limit: 5_000_000)) {
            try registry.plan(drawing)
        }
    }
}
