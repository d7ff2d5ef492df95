import Foundation
import HalcyonImage
import HalcyonSystem
import Testing

@testable import HalcyonCodecs

/// Entities that hold elements, which browsers draw, and languages.
@Suite(.timeLimit(.minutes(5))) struct SVGEntityTests {
    private let registry = CoderRegistry.standard()

    private func decode(_ entities: String, _ body: String) throws -> Bitmap {
        try registry.decode(Drawing.document(body, before: "<!DOCTYPE svg [\(entities)]>")).bitmap
    }

    private func error(_ entities: String, _ body: String) -> CodecError? {
        #expect(throws: CodecError.self) { try decode(entities, body) }
    }

    @Test(arguments: [
        ("<!ENTITY e '<rect width=\"4\" height=\"9\" fill=\"red\"/>'>", "&e;<g transform='translate(5)'>&e;</g>"),
        ("<!ENTITY e '&#60;rect width=\"4\" height=\"9\" fill=\"red\"/>'>", "&e;<g transform='translate(5)'>&e;</g>"),
        (
            "<!ENTITY f '<rect width=\"4\" height=\"9\" fill=\"&c;\"/>'><!ENTITY c 'red'><!ENTITY e '<g>&f;</g>'>",
            "&e;<svg x='5'>&e;</svg>"
        ),
        ("<!ENTITY e '<g id=\"a\"><rect width=\"4\" height=\"9\" fill=\"red\"/></g>'>", "&e;<use href='#a' x='5'/>"),
        ("<!ENTITY e '<style>.a{fill:red}</style><!-- a -->'>", "&e;<path class='a' d='M0 0h4v9h-4zM5 0h4v9h-4z'/>"),
        (
            "<!ENTITY e '<s:rect xmlns:s=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"9\" fill=\"red\"/>'>",
            "&e;<g transform='translate(5)'>&e;</g>"
        ),
    ])
    func elementsOfEntitiesAreDrawn(_ entities: String, _ body: String) throws {
        let plain = "<path fill='red' d='M0 0h4v9h-4zM5 0h4v9h-4z'/>"
        #expect(try decode(entities, body).bytes == decode("", plain).bytes)
        // Also where the document is written anew.
        let shadow = "<filter id='none'><feDropShadow/></filter>"
        #expect(try decode(entities, body + shadow).bytes == decode("", plain).bytes)
    }

    @Test func elementsOfEntitiesPassTheChecks() {
        for (content, body) in [
            ("<feTile/>", "<filter>&e;</filter>"), ("<image href=\"data:text/xml,a\"/>", "&e;"),
            ("<feTurbulence numOctaves=\"65\"/>", "<filter>&e;</filter>"), ("<use href=\"data:,a#b\"/>", "&e;"),
            ("<x:include xmlns:x=\"http://www.w3.org/2001/XInclude\" href=\"a\"/>", "&e;"),
            ("<style>@import \"data:,a\"</style>", "&e;"), ("<text font-size=\"1e7\">a</text>", "&e;"),
            // Parts of elements.
            ("<g>", "&e;</g>"), ("</g>", "<g>&e;"), ("<g", "&e;/>"), ("<a/>", "<g id='&e;'/>"),
        ] {
            let code = error("<!ENTITY e '\(content)'>", body)?.code
            #expect(code == "damagedImage" || code == "limitExceeded", "\(content)")
        }
    }

    /// Laughs of elements, of comments, of processing instructions and of nothing.
    @Test(arguments: ["", "<g/>", "<!-- a -->", "<?a b?>", "<![CDATA[]]>", "<g></g> ", "<!---->"])
    func entitiesThatGrowAreRefused(_ content: String) {
        let chain = { (levels: Int) in
            (1...levels).map { "<!ENTITY e\($0) '\(String(repeating: "&e\($0 - 1);", count: 10))'>" }.joined()
        }
        for levels in [6, 30] {
            let code = error("<!ENTITY e0 '\(content)'>\(chain(levels))", "&e\(levels);")?.code
            #expect(code == "damagedImage" || code == "limitExceeded")
        }
        // Wide instead of deep: libxml2 lets a tenfold pass.
        let long = String(repeating: content, count: 20_000 / max(content.count, 1))
        let code = error(
            "<!ENTITY e '\(long)'>", String(repeating: "&e;", count: content.isEmpty ? 1_100_000 : 10_000))?.code
        #expect(code == "damagedImage" || code == "limitExceeded")
    }

    @Test func entitiesOfEachOtherAreRefused() {
        for (entities, body) in [
            ("<!ENTITY e '<g>&e;</g>'>", "&e;"), ("<!ENTITY e '<g>&f;</g>'><!ENTITY f '<g>&e;</g>'>", "&e;"),
            ("<!ENTITY e '<g a=\"&e;\"/>'>", "&e;"), ("", "&e;"),
            ("<!ENTITY e '<image href=\"data:image/svg+xml,&e;\"/>'>", "&e;"),
        ] {
            #expect(error(entities, body)?.code == "damagedImage", "\(entities)")
        }
    }

    /// Each entity begins to count the parser's levels anew.
    @Test func levelsOfEntitiesCount() throws {
        let registry = registry
        for (levels, groups) in [(5, 100), (38, 60), (38, 200)] {
            let entities = (0..<levels).map { level in
                let (start, end) = (String(repeating: "<g>", count: groups), String(repeating: "</g>", count: groups))
                return "<!ENTITY e\(level) '\(start)&e\(level + 1);\(end)'>"
            }.joined()
            let data = Drawing.document(
                "&e0;", before: "<!DOCTYPE svg [\(entities)<!ENTITY e\(levels) '<rect width=\"5\" height=\"5\"/>'>]>")
            // On a thread whose own stack is small.
            let isDrawn = try WorkerThread.run(name: "small", stackSize: 1 << 19) {
                (try? registry.decode(data).bitmap.pixel(x: 1, y: 1)?.alpha) == 255
            }
            #expect(isDrawn == true || levels * groups > 500)
        }
    }

    // MARK: Languages

    @Test(arguments: ["rect:lang(en)", "rect:lang(fr, en)", ":lang(en)", "rect:not(:lang(de))"])
    func rulesOfLanguagesAreDrawn(_ selector: String) throws {
        let body = { (name: String) in
            "<style>\(selector) { fill: #f00 }</style><g xml:lang='\(name)'><rect width='9' height='9' fill='#0000ff'/></g>"
        }
        #expect(try decode("", body("en-GB")).pixel(x: 4, y: 4)?.red == 255)
        #expect(try decode("", body("de")).pixel(x: 4, y: 4)?.blue == 255)
    }

    /// librsvg would end the process, if an element had a language.
    @Test(arguments: [
        ":lang(en-x-a)", ":lang(x-private)", ":lang(fr, en-u-co-phonebk)", ":LANG('en-X-a')", ":lang(e\\6e -x-a)",
        ":l\\61ng(en-x-a)", ":l\\000061 ng(en-x-a)", ":lang(/*)*/en-x-a)", ":lang(/**/x-a)", ":lang(en-1-abc)",
        "rect:lang(en), g:not(:lang(en-a-bbb))", ":lang(i-klingon, x-a)", ":lang(en\\2d x\\2d a)",
    ])
    func rulesOfExtendedLanguagesAreRefused(_ selector: String) {
        let text = "<style>\(selector) { fill: #f00 }</style><g xml:lang='en'><rect width='9' height='9'/></g>"
        #expect {
            try decode("", text)
        } throws: {
            guard case .damaged(.svg, let reason)? = $0 as? CodecError else { return false }
            return reason.contains("extended language")
        }
        // Elsewhere, such letters are none.
        let other = "<style>.en-x-a { fill: #f00 } rect:lang(i-klingon) { }</style>"
        #expect((try? decode("", "\(other)<g xml:lang='en-x-a'><rect width='9' height='9'/></g>")) != nil)
    }

    /// Nothing that is no language ends the process.
    @Test func languagesThatAreNoneAreHarmless() {
        let names = [
            "", "-", "en-", "*", "*-CH", "x", "i-", "i-klingon", "x-private", "en-u-co-phonebk", "en-x-a", "de-1996",
            "en_US", "\u{FC}", "\u{1F600}",
            String(repeating: "a", count: 10_000), String(repeating: "a-", count: 5000), "e\u{301}n", "\\0", "en\\",
        ]
        for name in names {
            let quoted = name.replacing("\\", with: "\\\\")
            for selector in [":lang(\(name))", ":lang(\"\(quoted)\")", ":lang(\(name),\(name))", ":lang(", ":lang"] {
                let style = "<style>\(selector) { fill: red }</style>"
                for attribute in ["xml:lang='\(name)'", "lang='\(name)'", "systemLanguage='\(name)'", ""] {
                    _ = try? decode("", "\(style)<switch><g \(attribute)><rect width='9' height='9'/></g></switch>")
                }
            }
        }
    }
}
