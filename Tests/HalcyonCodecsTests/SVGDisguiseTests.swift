import CHalcyonCodecs
import CHalcyonSVG
import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSVG

/// The features that are refused in a drawing, with every way of hiding them from the check; and beside them the features that
/// have to be drawn, as librsvg's own result shows.
@Suite(.timeLimit(.minutes(5))) struct SVGDisguiseTests {
    let registry = CoderRegistry.standard()
    let coder = SVGCoder()

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var body = ""
        /// In front of the root element.
        var before = ""

        var text: String { String(decoding: Drawing.document(body, before: before), as: UTF8.self) }
    }

    private static let inner = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="
    private static let matrix = Array(repeating: "1", count: 441).joined(separator: " ")
    private static let noise = filtered("<feTurbulence baseFrequency='0.05' numOctaves='999999'/>")

    private static func filtered(_ filter: String) -> String {
        "<filter id='f'>\(filter)</filter><rect width='8' height='8' filter='url(#f)'/>"
    }

    private static func declared(_ subset: String, _ body: String = "") -> Case {
        Case(testDescription: "declared: \(subset.prefix(60))", body: body, before: "<!DOCTYPE svg [\(subset)]>")
    }

    private static func body(_ name: String, _ body: String) -> Case { Case(testDescription: name, body: body) }

    static let refused: [Case] = [
        body("noise", noise),
        body("noise in references", noise.replacing("9", with: "&#57;")),
        body("matrix", filtered("<feConvolveMatrix order='21' kernelMatrix='\(matrix)'/>")),
        body("order", filtered("<feConvolveMatrix order='99999 99999'/>")),
        declared("<!ATTLIST feTurbulence numOctaves CDATA '999999'>", filtered("<feTurbulence/>")),
        declared(
            "<!ATTLIST feConvolveMatrix kernelMatrix CDATA '\(matrix)'>", filtered("<feConvolveMatrix order='21'/>")),
        // The apostrophe would begin a string for a reader that does not recognize the comment around it.
        declared(
            "<!-- don't --><!ATTLIST feTurbulence numOctaves CDATA '999999'><!-- ' -->", filtered("<feTurbulence/>")),
        declared("<?say 'don\\'t?><!ATTLIST image href CDATA '\(inner)'>", "<image width='9' height='9'/>"),
        declared("<!ATTLIST svg a (b|c) 'b'>"), declared("<!ELEMENT svg ANY>"),
        declared("<!NOTATION n SYSTEM 'n'>"), declared("<!NOTATION n PUBLIC 'n'><!ENTITY e SYSTEM 'e' NDATA n>"),
        declared("<!ENTITY % p '<!ATTLIST g class CDATA \"a\">'>%p;"), declared("<!ENTITY % p SYSTEM 'data:,x'>%p;"),
        declared("<!ENTITY e SYSTEM 'data:,x'>", "<text>&e;</text>"),
        declared("<!ENTITY e '<feTurbulence numOctaves=\"999999\"/>'>", filtered("&e;")),
        declared("<!ENTITY e '&#60;feTurbulence numOctaves=\"999999\"/>'>", filtered("&e;")),
        declared("<!ENTITY e 'a'><!ENTITY e 'b'>"),
        declared("<!ENTITY e '999999'>", noise.replacing("999999", with: "&e;")),
        body("include", "<x:include xmlns:x='http://www.w3.org/2001/XInclude' href='\(inner)'/>"),
        body("include by default", "<include xmlns='http://www.w3.org/2001/XInclude' href='\(inner)'/>"),
        body("include text", "<x:include xmlns:x='http://www.w3.org/2001/XInclude' parse='text' href='data:,a'/>"),
        body("fallback", "<x:fallback xmlns:x='http://www.w3.org/2001/XInclude'/>"),
        Case(
            testDescription: "style by address", before: "<?xml-stylesheet type='text/css' href='data:text/css,a{}'?>"),
        Case(
            testDescription: "hidden style", before: "<?xml-stylesheet type='text/css' href='d&#97;ta:text/css,a{}'?>"),
        body("image of a fragment", "<image width='9' height='9' href='\(inner)#a'/>"),
        body("image without a type", "<image href='data:image;base64,PHN2Zy8+'/>"),
        body("type that lies", "<image href='data:image/png;base64,PHN2Zy8+'/>"),
        body("text", "<image href='data:text/plain,%3Csvg/%3E'/>"),
        body("xml", "<image href='data:text/xml,%3Csvg/%3E'/>"),
        body("icon", "<image href='data:image/x-icon;base64,AAABAAEA'/>"),
        body("use", "<use href='\(inner)#a'/>"), body("use without", "<use href='\(inner)'/>"),
        body("gradient", "<linearGradient href='\(inner)#a'/>"),
        body("fill", "<rect fill='url(\(inner)#a)'/>"), body("style", "<rect style='fill:url(\(inner)#a)'/>"),
        body("style in quotes", "<rect style='filter:url(  \"\(inner)#a\")'/>"),
        body("escapes", "<rect style='fill:url(d\\61 ta:image/svg+xml,x\\23 a)'/>"),
        body("sheet", "<style>rect{fill:url(\(inner)#a)}</style>"),
        body("sheet in parts", "<style>rect{fill:url(da<!-- -->ta:,x#a)}</style>"),
        body("sheet as data", "<style><![CDATA[rect{fill:url(\"data:,')#a\")}]]></style>"),
        body("import", "<style>@import url(data:text/css,a);</style>"),
        body("import text", "<style>@imp\\6frt 'data:text/css,a';</style>"),
        body("import by lines", "<style>@IMPORT \"d\\\nata:text/css,a\";</style>"),
        body("sheet of a type", "<style type='text/plain'>@import 'data:text/css,a'</style>"),
    ]

    /// Ways to write a document down.
    enum Disguise: CaseIterable {
        case plain, mark, lines, comments, quotes, latin1, windows, utf16, utf16Big

        func data(_ text: String) -> Data {
            switch self {
            case .plain: Data(text.utf8)
            case .mark: Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)
            case .lines: Data(text.replacing("><", with: ">\r\n<").utf8)
            case .comments: Data("<?xml version='1.0'?><!-- ' \" -->\(text)".utf8)
            // Where none stand within others.
            case .quotes: Data((text.contains("\"") ? text.replacing("=\"10\"", with: "='10'") : text).utf8)
            case .latin1:
                Data("<?xml version='1.0' encoding='ISO-8859-1'?><!-- ".utf8) + [0xE9] + Data(" -->\(text)".utf8)
            case .windows: Data("<?xml version='1.0' encoding='windows-1252'?>\(text)".utf8)
            case .utf16:
                Data([0xFF, 0xFE]) + text.utf16.reduce(into: Data()) { $0 += [UInt8($1 & 255), UInt8($1 >> 8)] }
            case .utf16Big:
                Data([0xFE, 0xFF]) + text.utf16.reduce(into: Data()) { $0 += [UInt8($1 >> 8), UInt8($1 & 255)] }
            }
        }
    }

    /// Given to the coder itself, since not every encoding is taken for a drawing.
    @Test(arguments: refused) func refusedDocumentsAreRefusedInEveryDisguise(_ document: Case) {
        for disguise in Disguise.allCases {
            let data = disguise.data(document.text)
            let error = #expect(throws: CodecError.self, "\(disguise)") {
                _ = try coder.probe(data)
                _ = try coder.embeddedImages(in: data)
            }
            #expect(["damagedImage", "limitExceeded"].contains(error?.code))
            #expect(throws: CodecError.self) { try registry.decode(data) }
        }
    }

    private static let picture = (try? Fixture.read("png/rgb8.png").base64EncodedString()) ?? ""
    private static let illustrator = """
        <?xml version="1.0" encoding="utf-8"?><!-- Generator: don't -->
        <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
        <!ENTITY ns_svg "http://www.w3.org/2000/svg"><!ENTITY ns_extend "http://ns.adobe.com/Extensibility/1.0/">
        <!ENTITY st0 "fill:#f00;"><!ENTITY both "&st0;stroke:none">
        ]>
        """
    private static let square = "<rect width='9' height='9' fill='#f00'/>"

    static let drawn: [Case] = [
        body("plain", square),
        Case(testDescription: "entities", body: "<rect width='9' height='9' style='&both;'/>", before: illustrator),
        Case(
            testDescription: "public", body: square,
            before: "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>"
        ),
        declared(
            "<!ATTLIST svg xmlns:xlink CDATA #FIXED 'http://www.w3.org/1999/xlink' class CDATA #IMPLIED>", square),
        Case(
            testDescription: "sheet outside", body: square,
            before: "<?xml-stylesheet href='style.css' type='text/css'?>"),
        body("picture", "<image width='9' height='9' href='data:image/png;base64,\(picture)'/>"),
        body("picture by xlink", "<image width='9' height='9' xlink:href='data:image/png;base64,\(picture)'/>"),
        body("picture without a type", "<image width='9' height='9' href='data:;base64,\(picture)'/>"),
        body(
            "packed otherwise",
            "<image width='9' height='9' href=' DATA:image/PNG;BASE64,\n\(picture.prefix(40))\n\(picture.dropFirst(40))'/>"
        ),
        body(
            "percents",
            "<image width='9' height='9' href='data:image/png;base64,\(picture.replacing("=", with: "%3D").replacing("A", with: "%41"))'/>"
        ),
        body(
            "twice",
            String(repeating: "<image width='9' height='9' href='data:image/png;base64,\(picture)'/>", count: 2)),
        body("filter", filtered("<feImage href='data:image/png;base64,\(picture)'/>")),
        body(
            "font",
            "<style>@font-face{font-family:a;src:url(data:font/woff2;base64,AAAA) format('woff2')}a{fill:#fff}</style>\(square)"
        ),
        body("quoted font", "<style>@font-face{src:url('data:application/font-woff;base64,AAAA')}</style>\(square)"),
        body(
            "font and importance",
            "<style>@font-face{src:url(data:font/woff2;base64,AAAA)}rect{fill:red !important}</style>\(square)"),
        body("order of something else", "<g xmlns:d='urn:d' d:order='first' order='last'>\(square)</g>"),
        body("import from outside", "<style>@import url('https://fonts.example/a.css');</style>\(square)"),
        body(
            "words",
            "<style>/* metadata: #1 */ a{content:'data:'}</style><desc>xi:include data:image/svg+xml#a</desc>\(square)"),
        body("link", "<a href='data:text/html,a'>\(square)</a>"),
        body(
            "gradient",
            "<linearGradient id='a'><stop stop-color='red'/></linearGradient><rect width='9' height='9' fill='url(#a)'/>"
        ),
        body(
            "classes",
            "<style>.a{clip-path:url(#c);fill:#f00}</style><clipPath id='c'><rect width='5' height='5'/></clipPath><rect width='9' height='9' class='a'/>"
        ),
        declared(
            "<!ENTITY r '<rect width=\"4\" height=\"4\" fill=\"red\"/>'><!ENTITY g '<!-- a --><g>&r;</g>'>",
            "&g;<g transform='translate(5 5)'>&r;&g;</g>"),
        body("language", "<style>rect:lang(en){fill:red}</style><g xml:lang='en-GB'>\(square)</g>"),
        body("matrix", filtered("<feConvolveMatrix order='3' kernelMatrix='0 -1 0 -1 5 -1 0 -1 0'/>")),
        body("noise", filtered("<feTurbulence baseFrequency='0.05' numOctaves='4'/>")),
        body("foreign", "<metadata><x:y xmlns:x='urn:x' x:href='#a' id='a'/></metadata>\(square)"),
    ]

    /// librsvg without anything in front of it.
    private func drawnAlone(_ data: Data) -> [UInt8]? {
        var pixels = [UInt8](repeating: 0, count: 400)
        var call = halcyon_codec_call()
        let status = data.withUnsafeBytes { bytes in
            pixels.withUnsafeMutableBufferPointer { pixels in
                let bitmap = halcyon_codec_bitmap(pixels: pixels.baseAddress, width: 10, height: 10)
                var document: OpaquePointer?
                let first = bytes.bindMemory(to: UInt8.self).baseAddress
                let status = halcyon_svg_open(first, bytes.count, true, &document, &call)
                guard let document else { return status }
                defer { halcyon_svg_close(document) }
                return halcyon_svg_draw(document, bitmap, &call)
            }
        }
        return status == HALCYON_CODEC_OK ? pixels : nil
    }

    @Test(arguments: drawn) func acceptedDocumentsMatchLibrsvg(_ document: Case) throws {
        for disguise in Disguise.allCases where disguise == .plain || !document.text.hasPrefix("<?xml ") {
            let data = disguise.data(document.text)
            let expected = try #require(drawnAlone(data), "\(disguise)")
            #expect(expected.contains { $0 != 0 }, "\(disguise)")
            let plan = try DecodePlan(info: coder.probe(data), options: DecodeOptions(), decoder: coder)
            _ = try coder.embeddedImages(in: data)
            #expect(try coder.decode(data, plan: plan, context: .uncancellable).bytes == expected, "\(disguise)")
        }
    }

    /// Documents that are neither: librsvg decides on them, and neither of the two may end the process.
    @Test(arguments: [
        "", " ", "<", "<svg", "<svg>", "<svg/>", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<a:svg/>",
        "<svg a='&b;'/>",
        "<svg xmlns='http://www.w3.org/2000/svg'><g></svg>", "<!DOCTYPE svg [<!ENTITY a '&a;'>]><svg>&a;</svg>",
        "<!DOCTYPE svg [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><svg b='&a;'/>", "<!DOCTYPE svg [<!ENTITY",
        "<?xml version='1.0' encoding='nothing'?><svg xmlns='http://www.w3.org/2000/svg'/>",
        "<?xml version='1.0' encoding='UTF-16'?><svg xmlns='http://www.w3.org/2000/svg'/>",
        "<?xml-stylesheet href='a?><svg xmlns='http://www.w3.org/2000/svg'/>",
        "<svg xmlns='http://www.w3.org/2000/svg' a:b='c'/>",
    ])
    func acceptedTextIsAcceptedByLibrsvg(_ text: String) {
        let data = Data(text.utf8)
        let isTaken = (try? coder.probe(data)) != nil
        #expect(!isTaken || drawnAlone(data) != nil)
    }

    // MARK: Pictures

    private func picture(_ file: Data, type: String = "image/png", count: Int = 1) -> Data {
        let image = "<image width='9' height='9' href='data:\(type);base64,\(file.base64EncodedString())'/>"
        return Drawing.document(String(repeating: image, count: count))
    }

    @Test func picturesCountAgainstTheLimits() throws {
        let huge = try Fixture.read("bombs/60000x60000.png")
        let error = #expect(throws: CodecError.self) { try registry.plan(picture(huge)) }
        #expect(error?.code == "limitExceeded")
        let small = try Fixture.read("png/rgb8.png")
        let pixels = try #require(try registry.probe(small).size.area)
        let options = DecodeOptions(limits: DecodeLimits(maximumPixels: max(100, pixels * 3)))
        #expect(throws: Never.self) { try registry.plan(picture(small, count: 3), options: options) }
        #expect(throws: CodecError.limitExceeded("pixels of embedded images", value: pixels * 4, limit: pixels * 3)) {
            try registry.plan(picture(small, count: 4), options: options)
        }
    }

    @Test func picturesCountAgainstTheBudget() throws {
        let file = try Fixture.read("png/rgb8.png")
        let bytes = try registry.probe(file).size.bitmapBytes
        let alone = try registry.plan(Drawing.document(Self.square)).workingBytes
        #expect(try registry.plan(picture(file)).workingBytes >= alone + 2 * bytes)
        #expect(try registry.plan(picture(file, count: 5)).workingBytes >= alone + 10 * bytes)
        let small = CoderRegistry([PNGCoder(), SVGCoder()], budget: DecodeBudget(capacity: alone + 2 * bytes - 1))
        let error = #expect(throws: CodecError.self) { try small.decode(picture(file)) }
        #expect(error?.code == "limitExceeded")
    }

    /// GDK-Pixbuf keeps every frame.
    @Test func framesOfPicturesCount() throws {
        let gif = try Fixture.read("animation/clear.gif")
        let info = try registry.probe(gif)
        #expect(info.frameCount > 1)
        let plan = try registry.plan(picture(gif, type: "image/gif"))
        #expect(plan.workingBytes >= info.size.bitmapBytes * info.frameCount)
    }

    @Test func picturesWithoutAHeaderAreRefused() throws {
        for file in [Data("no picture".utf8), Data(), try Fixture.read("png/rgb8.png").prefix(20)] {
            #expect(throws: CodecError.self) { try registry.decode(picture(file)) }
        }
    }
}
