import CHalcyonCodecs
import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSVG
@testable import HalcyonSystem

/// Drawings that would cost librsvg its stack, its time or memory.
@Suite(.timeLimit(.minutes(5))) struct SVGBoundTests {
    let registry = CoderRegistry.standard()

    private func decode(_ body: String, before: String = "") throws -> Image {
        try registry.decode(Drawing.document(body, before: before))
    }

    private func isRefused(_ body: String, before: String = "") -> Bool {
        do {
            _ = try decode(body, before: before)
            return false
        } catch {
            return (error as? CodecError)?.code == "limitExceeded"
        }
    }

    /// Each of them ended the process, or was drawn without its text.
    @Test(arguments: [
        "<filter id='f'><feFlood/><feTile/></filter><rect x='99' width='9' height='9' filter='url(#f)'/>",
        "<text y='9' font-size='65536'>a</text>", "<text y='9' font-size='1e7'>a</text>",
        "<text y='9' style='font-size: 1e7px'>a</text>",
        "<text y='9' style='font: 30000in serif'>a</text>",
        "<style>text { font-size: 100000000% }</style><text>a</text>",
        "<g font-size='1000em'><g font-size='1000em'><text font-size='1000em'>a</text></g></g>",
        "<symbol id='s'><text font-size='3000em'>a</text></symbol><g font-size='3000em'><use href='#s'/></g>",
    ])
    func whatEndsTheProcessIsRefused(_ body: String) {
        let error = #expect(throws: CodecError.self) { try decode(body) }
        #expect(error?.code == "damagedImage" || error?.code == "limitExceeded")
    }

    @Test func fontsOfUsualSizesAreDrawn() throws {
        for body in [
            "<text y='9' font-size='65535'>a</text>", "<g font-size='2em'><text font-size='200%'>a</text></g>",
            "<g font-size='1e7'/>",
        ] {
            #expect(throws: Never.self) { try decode(body) }
        }
    }

    /// The attribute would take a minute and gigabytes; browsers ignore it.
    @Test func unitLengthsAreIgnored() throws {
        func body(_ length: String) -> String {
            """
            <filter id='f'><feConvolveMatrix order='3' kernelMatrix='0 0 0 0 1 0 0 0 0' \(length)/></filter>\
            <rect width='9' height='9' fill='red' filter='url(#f)'/>
            """
        }
        let plain = try decode(body("")).bitmap.bytes
        for length in ["1", "1e-3", "1e6", "0.01 0.01"] {
            #expect(try decode(body("kernelUnitLength='\(length)'")).bitmap.bytes == plain)
        }
    }

    // MARK: Depth

    /// How one element of a chain is made: from its number, and how it refers to the next, nil for the last.
    struct Chain: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let link: @Sendable (Int, Int?) -> String
        let start: String

        func body(_ count: Int) -> String {
            (0..<count).map { link($0, $0 + 1 < count ? $0 + 1 : nil) }.joined() + start
        }

        init(_ name: String, start: String, _ link: @escaping @Sendable (Int, Int?) -> String) {
            (testDescription, self.link, self.start) = (name, link, start)
        }

        /// Things that are referred to by a property of the rectangle within them.
        static func property(_ property: String, of element: String, _ attributes: String = "") -> Chain {
            let line = property == "stroke" ? "d='M0 0L5 5L9 0'" : "d='M0 0L5 5L9 0' stroke='red'"
            return Chain("\(element) by \(property)", start: "<path \(line) \(property)='url(#e0)'/>") { index, next in
                let value = next.map { "\(property)='url(#e\($0))'" } ?? ""
                return "<\(element) id='e\(index)' \(attributes)><path \(line) \(value)/></\(element)>"
            }
        }

        static let all: [Chain] = [
            property("fill", of: "pattern", "width='9' height='9' patternUnits='userSpaceOnUse'"),
            property("stroke", of: "pattern", "width='9' height='9' patternUnits='userSpaceOnUse'"),
            property("mask", of: "mask"), property("clip-path", of: "clipPath"),
            property("marker-end", of: "marker", "markerWidth='9' markerHeight='9'"),
            Chain("mask of masks", start: "<rect width='9' height='9' mask='url(#e0)'/>") { index, next in
                "<mask id='e\(index)' \(next.map { "mask='url(#e\($0))'" } ?? "")><rect width='9' height='9'/></mask>"
            },
            Chain("use", start: "") { index, next in
                next.map { "<use id='e\(index)' xlink:href='#e\($0)'/>" }
                    ?? "<rect id='e\(index)' width='5' height='5'/>"
            },
            Chain("use of symbols", start: "<use href='#e0'/>") { index, next in
                "<symbol id='e\(index)'>\(next.map { "<use href='#e\($0)'/>" } ?? "<rect width='5' height='5'/>")</symbol>"
            },
            Chain("gradients", start: "<rect width='9' height='9' fill='url(#e0)'/>") { index, next in
                "<linearGradient id='e\(index)' \(next.map { "href='#e\($0)'" } ?? "")/>"
            },
            Chain("pictures of filters", start: "<rect width='9' height='9' filter='url(#f0)'/>") { index, next in
                """
                <filter id='f\(index)'><feImage href='#e\(index)'/></filter>\
                <rect id='e\(index)' width='9' height='9' \(next.map { "filter='url(#f\($0))'" } ?? "")/>
                """
            },
        ]
    }

    /// Drawings of every kind, as deep as those that ended the process on a stack of 1 MiB, decoded on a thread whose own stack
    /// is small.
    @Test(arguments: Chain.all) func deeplyNestedDrawingUsesItsOwnStack(_ chain: Chain) throws {
        let count = chain.testDescription == "pictures of filters" ? 60 : 250
        let data = Drawing.document(chain.body(count) + "<rect width='1' height='1' fill='red'/>")
        let registry = registry
        let image = try WorkerThread.run(name: "small", stackSize: 1 << 19) { try registry.decode(data) }
        #expect(image?.bitmap.pixel(x: 0, y: 0)?.alpha == 255)
    }

    @Test func groupsAreAsDeepAsTheParserLetsThem() throws {
        for (count, isDrawn) in [(250, true), (300, false), (100_000, false)] {
            let body =
                String(repeating: "<g opacity='0.9'>", count: count) + "<path d='M0 0'/>"
                + String(repeating: "</g>", count: count)
            #expect(((try? decode(body)) != nil) == isDrawn)
        }
    }

    /// The references count also in a style sheet, which does not name the elements that it is for.
    @Test(arguments: Chain.all.filter { !["gradients"].contains($0.testDescription) })
    func chainsWithoutEndAreRefused(_ chain: Chain) throws {
        let isRefused = isRefused(chain.body(4000))
        #expect(isRefused)
    }

    private static let spellings: [@Sendable (Int) -> String] = [
        { "fill='url(#e\($0))'" }, { "fill=' url( \"#e\($0)\" ) '" }, { "style='fill:url(#e\($0))'" },
        { "style='mask:none;f\\69ll:u\\72l(\\23 e\($0))'" }, { "style='/*;mask:*/fill:url(#e\($0))'" },
        { "fill='url(\\23 \\65 \($0))'" }, { "fill='&u;(&#35;e\($0))'" },
    ]

    @Test(arguments: spellings.indices) func howAReferenceIsWrittenHidesNothing(_ index: Int) {
        let spelling = Self.spellings[index]
        let chain = Chain("patterns", start: "<rect width='9' height='9' \(spelling(0))/>") { index, next in
            """
            <pattern id='e\(index)' width='9' height='9' patternUnits='userSpaceOnUse'>\
            <rect width='9' height='9' \(next.map(spelling) ?? "")/></pattern>
            """
        }
        let before = "<!DOCTYPE svg [<!ENTITY u 'url'>]>"
        #expect(throws: Never.self) { try decode(chain.body(50), before: before) }
        let isRefused = isRefused(chain.body(4000), before: before)
        #expect(isRefused)
    }

    private static let rules: [@Sendable (Int) -> String] = [
        { ".c\($0){fill:url(#e\($0))}" }, { ".c\($0){fill:url( '#e\($0)' )}" },
        { ".c\($0){f\\69ll:u\\72l(\\000023e\($0))}" }, { ".c\($0){fill:url(#e\\\n\($0))}" },
    ]

    @Test(arguments: rules.indices) func styleSheetsHideNothing(_ index: Int) {
        let rule = Self.rules[index]
        let chain = Chain("patterns", start: "<rect width='9' height='9' class='c0'/>") { index, next in
            """
            <pattern id='e\(index)' width='9' height='9' patternUnits='userSpaceOnUse'>\
            <rect width='9' height='9' \(next.map { "class='c\($0)'" } ?? "")/></pattern>
            """
        }
        let styled = { (count: Int) in
            "<style><![CDATA[\((0..<count).map(rule).joined())]]></style>\(chain.body(count))"
        }
        #expect(throws: Never.self) { try decode(styled(50)) }
        let isRefused = isRefused(styled(2000))
        #expect(isRefused)
    }

    /// Identifiers may contain what ends an address.
    @Test func strangeIdentifiersHideNothing() {
        let chain = Chain("patterns", start: "<rect width='9' height='9' class='c0'/>") { index, next in
            "<pattern id='e)\(index)' width='9' height='9'><rect \(next.map { "class='c\($0)'" } ?? "")/></pattern>"
        }
        let rules = (0..<2000).map { ".c\($0){fill:url(\"#e)\($0)\")}" }.joined()
        #expect(isRefused("<style>\(rules)</style>\(chain.body(2000))"))
    }

    /// The properties that a pattern's element inherits from outside of the pattern.
    @Test func inheritanceHidesNothing() {
        let chain = (0..<2000).map {
            "<g fill='url(#e\($0 + 1))'><pattern id='e\($0)' width='9' height='9'><rect width='9' height='9'/></pattern></g>"
        }.joined()
        #expect(isRefused(chain + "<rect width='9' height='9' fill='url(#e0)'/>"))
    }

    @Test(arguments: [
        "<g id='a'><use xlink:href='#b'/></g><g id='b'><use xlink:href='#a'/></g>",
        "<pattern id='a' width='5' height='5'><rect width='5' height='5' fill='url(#a)'/></pattern>",
        "<mask id='a' mask='url(#b)'><rect/></mask><mask id='b' mask='url(#a)'><rect/></mask><rect mask='url(#a)'/>",
        "<g id='a' fill='url(#p)'><pattern id='p' width='9' height='9'><use href='#a'/></pattern></g>",
        "<!-- <use href='#a'/> --><rect id='a' width='5' height='5'/>",
        String(repeating: "<use href='#a' x='3'/>", count: 1000) + "<rect id='a' width='1' height='1'/>",
        "<defs><user-id id='x'/></defs><rect width='5' height='5' style='a:\"<use>\"'/>".replacing("<u", with: "u"),
        "<g id='a'><g id='a'><use href='#missing'/></g></g><use href='nothing'/>",
    ])
    func ringsAndOrdinaryUsesAreJudgedByLibrsvg(_ body: String) {
        #expect(throws: Never.self) { try registry.probe(Drawing.document(body)) }
        // Some rings are errors of librsvg's.
        _ = try? decode(body)
    }

    @Test func ringsOfManyAreRefused() {
        for chain in Chain.all where !["gradients"].contains(chain.testDescription) {
            let ring = (0..<2000).map { chain.link($0, ($0 + 1) % 2000) }.joined()
            let isRefused = isRefused(ring)
            #expect(isRefused, "\(chain.testDescription)")
        }
    }

    // MARK: Number

    @Test func usesThatGrowAreRefused() {
        let ten = { (id: String) in String(repeating: "<use href='#\(id)'/>", count: 10) }
        for depth in [5, 30] {
            let body = "<rect id='r0'/>" + (1...depth).map { "<g id='r\($0)'>\(ten("r\($0 - 1)"))</g>" }.joined()
            #expect(isRefused(body))
        }
    }

    /// References to nothing, on an element around thousands that are used, are looked at for each of them.
    @Test(arguments: ["fill", "mask"]) func referencesToNothingCostNothing(_ property: String) {
        let (count, nothing) = (10_000, String(repeating: "url(#z) ", count: 10_000))
        let used = (0..<count).map { "<g id='a\($0)'/><use href='#a\($0)'/>" }.joined()
        let isRefused = isRefused("<g \(property)='\(nothing)'>\(used)</g>")
        #expect(isRefused)
    }

    @Test func entitiesThatGrowAreRefused() {
        var entities = "<!ENTITY a0 'ha'>"
        for level in 1...30 {
            entities += "<!ENTITY a\(level) '\(String(repeating: "&a\(level - 1);", count: 10))'>"
        }
        for place in ["<text>&a30;</text>", "<g class='&a30;'/>", "<style>&a30;</style>"] {
            #expect(throws: CodecError.self) { try decode(place, before: "<!DOCTYPE svg [\(entities)]>") }
        }
        let long = "<!DOCTYPE svg [<!ENTITY a '\(String(repeating: "ha", count: 5000))'>]>"
        #expect(throws: CodecError.self) {
            try decode(String(repeating: "<g class='&a;'/>", count: 5000), before: long)
        }
    }

    /// The end of each was searched for up to the document's end.
    @Test func unclosedConstructsAreScannedQuickly() {
        let many = { (text: String) in String(repeating: text, count: 30_000) }
        for body in [
            many("<!ENTITY"), "<style>" + many("(data:") + "</style>", "<style>" + many("@import'data:") + "</style>",
        ] {
            let before = ProcessorTime.ofThread
            // Without an end it may also lead nowhere.
            _ = try? SVGDrawing(Drawing.document(body)).check()
            #expect(ProcessorTime.ofThread - before < .seconds(20))
        }
    }

    @Test func moreElementsThanAreReadAreRefused() {
        #expect(isRefused(String(repeating: "<g/>", count: 200_000)))
    }

    @Test func selectorsThatTakeLongAreRefused() {
        let groups = { String(repeating: "<g/>", count: $0) }
        #expect(isRefused("<style>" + String(repeating: "#a{fill:red}", count: 10_001) + "</style>" + groups(10_000)))
        let siblings = Array(repeating: "*", count: 10_002).joined(separator: "+")
        #expect(isRefused("<style>\(siblings){fill:red}</style>" + groups(10_000)))
        // 3.5 KB of stack each.
        for not in [":not(", ":n\\6ft("] {
            let nested = String(repeating: not, count: 20_000) + "a" + String(repeating: ")", count: 20_000)
            #expect(isRefused("<style>\(nested){fill:red}</style>"))
        }
        #expect(throws: Never.self) { try decode("<style>g:not(.a):not(.b) > rect, a ~ b{fill:red}</style><g/>") }
    }

    @Test(arguments: [
        ("9", true), ("64", true), ("65", false), (" 65", false), ("6.5e1", false), ("99999999999999999999999", false),
        ("", true), ("-3", true), ("1/**/65", false), ("\\36 5", false),
    ])
    func octavesOfNoiseAreLimited(_ count: String, _ isDrawn: Bool) {
        let data = Drawing.document("<filter><feTurbulence numOctaves='\(count)'/></filter>")
        #expect(((try? registry.probe(data)) != nil) == isDrawn)
    }

    /// Found by fuzzing: the attributes behind a refused one were read from memory that the parser had freed.
    @Test func theRestOfARefusedElementIsNotRead() throws {
        let found = try Fixture.read("hostile/refused-attribute.svg")
        #expect(throws: CodecError.self) { try registry.probe(found) }
        // Nor what stands behind the element, in the same piece of the file and in later ones.
        let rest = String(repeating: "<g style='&lots;' id='a'>&lots;</g>", count: 2000)
        let document = """
            <!DOCTYPE svg [<!ENTITY lots '\(String(repeating: "a", count: 1000))'>]>
            <svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>
            <filter><feTurbulence numOctaves='65' baseFrequency='1' style='stroke-dasharray:1'/></filter>
            <style>\(String(repeating: "g{stroke-dasharray:1}", count: 500))</style>\(rest)</svg>
            """
        let error = #expect(throws: CodecError.self) { try registry.probe(Data(document.utf8)) }
        #expect(error?.code == "limitExceeded", "\(String(describing: error))")
    }

    @Test(arguments: [
        ("1 2 3 4 5 6 7 8 9", true), (Array(repeating: "0.125", count: 100).joined(separator: ","), true),
        (Array(repeating: "1", count: 101).joined(separator: " "), false), (String(repeating: "-1", count: 101), false),
        (String(repeating: ".5", count: 101), false), (String(repeating: "1/**/", count: 101), false),
    ])
    func matricesAreLimited(_ numbers: String, _ isDrawn: Bool) {
        let data = Drawing.document("<filter><feConvolveMatrix kernelMatrix='\(numbers)'/></filter>")
        #expect(((try? registry.probe(data)) != nil) == isDrawn)
    }
}

/// Small drawings for tests.
enum Drawing {
    static func document(_ body: String, before: String = "", size: Int = 10) -> Data {
        Data(
            """
            \(before)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
            width="\(size)" height="\(size)">\(body)</svg>
            """.utf8)
    }
}
