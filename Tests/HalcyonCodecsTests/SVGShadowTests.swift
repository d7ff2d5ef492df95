import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// Drawings with `feDropShadow`, against the same drawings with the primitives that it stands for.
@Suite(.timeLimit(.minutes(5))) struct SVGShadowTests {
    private let registry = CoderRegistry.standard()

    private func pixels(_ filter: String, style: String = "", _ attributes: String = "", group: String = "") throws
        -> [UInt8]
    {
        let body = """
            <style>\(style)</style><filter id='f' \(attributes)>\(filter)</filter>\
            <g \(group)><rect x='8' y='8' width='12' height='12' fill='#f80' filter='url(#f)'/></g>
            """
        return try registry.decode(Drawing.document(body, size: 40)).bitmap.bytes
    }

    private static func parts(
        _ input: String = "SourceGraphic", blur: String = "2", dx: String = "2", dy: String = "2", flood: String = "",
        all: String = "", region: String = ""
    ) -> String {
        """
        <feGaussianBlur in='\(input)' stdDeviation='\(blur)' \(all)/><feOffset dx='\(dx)' dy='\(dy)' result='o' \(all)/>\
        <feFlood \(flood) \(all)/><feComposite in2='o' operator='in' \(all)/>\
        <feMerge \(region) \(all)><feMergeNode/><feMergeNode in='\(input)'/></feMerge>
        """
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let shadow: String
        let parts: String
        var style = ""
        var group = ""
    }

    static let cases = [
        Case(testDescription: "defaults", shadow: "<feDropShadow/>", parts: parts()),
        Case(
            testDescription: "values",
            shadow: "<feDropShadow dx='4' dy='-3' stdDeviation='1 3' flood-color='blue' flood-opacity='.5'/>",
            parts: parts(blur: "1 3", dx: "4", dy: "-3", flood: "flood-color='blue' flood-opacity='.5'")),
        Case(
            testDescription: "no blur", shadow: "<feDropShadow dx='5' dy='5' stdDeviation='0' flood-color='#0c0'/>",
            parts: parts(blur: "0", dx: "5", dy: "5", flood: "flood-color='#0c0'")),
        Case(
            testDescription: "style", shadow: "<feDropShadow style='flood-color:red;flood-opacity:0.7'/>",
            parts: parts(flood: "style='flood-color:red;flood-opacity:0.7'")),
        Case(
            testDescription: "class", shadow: "<feDropShadow class='s'/>", parts: parts(flood: "class='s'"),
            style: ".s { flood-color: #06f }"),
        Case(
            testDescription: "identifier", shadow: "<feDropShadow id='s'/>", parts: parts(flood: "id='s'"),
            style: "#s { flood-color: #06f }"),
        Case(
            testDescription: "current color", shadow: "<feDropShadow color='lime' flood-color='currentColor'/>",
            parts: parts(flood: "color='lime' flood-color='currentColor'")),
        Case(
            testDescription: "color space",
            shadow: "<feDropShadow flood-color='#840' color-interpolation-filters='sRGB'/>",
            parts: parts(flood: "flood-color='#840'", all: "color-interpolation-filters='sRGB'")),
        Case(
            testDescription: "region", shadow: "<feDropShadow x='4' y='4' width='15' height='18'/>",
            parts: parts(region: "x='4' y='4' width='15' height='18'")),
        Case(testDescription: "input", shadow: "<feDropShadow in='SourceAlpha'/>", parts: parts("SourceAlpha")),
        Case(
            testDescription: "behind another", shadow: "<feOffset dx='3'/><feDropShadow flood-color='blue'/>",
            parts: "<feOffset dx='3' result='p'/>" + parts("p", flood: "flood-color='blue'")),
        Case(
            testDescription: "behind a named one", shadow: "<feOffset dx='3' result='q'/><desc/><feDropShadow/>",
            parts: "<feOffset dx='3' result='q'/>" + parts("q")),
        Case(
            testDescription: "two", shadow: "<feDropShadow dx='-4'/><feDropShadow dy='6' flood-color='blue'/>",
            parts: parts(dx: "-4", region: "result='m'")
                + parts("m", dy: "6", flood: "flood-color='blue'")),
        Case(
            testDescription: "its result",
            shadow: "<feDropShadow result='r'/><feFlood flood-color='red'/><feMerge><feMergeNode in='r'/></feMerge>",
            parts: parts()),
        Case(
            testDescription: "with children",
            shadow: "<feDropShadow><set attributeName='dx' to='9'/><title>a</title></feDropShadow>",
            parts: parts()),
        Case(
            testDescription: "prefixed", shadow: "<s:feDropShadow xmlns:s='http://www.w3.org/2000/svg' dx='4'/>",
            parts: parts(dx: "4")),
        Case(
            testDescription: "turned", shadow: "<feDropShadow dx='4' flood-color='blue'/>",
            parts: parts(dx: "4", flood: "flood-color='blue'"), group: "transform='rotate(20)'"),
    ]

    @Test(arguments: cases) func aShadowIsItsPrimitives(_ shadow: Case) throws {
        let found = try pixels(shadow.shadow, style: shadow.style, group: shadow.group)
        let expected = try pixels(shadow.parts, style: shadow.style, group: shadow.group)
        #expect(found == expected)
        // And there is one.
        #expect(try found != pixels("<feOffset/>", group: shadow.group))
        #expect(found.contains { $0 != 0 })
    }

    /// Rules that would reach its parts, or not reach them, are not translated: it stays what it is for librsvg.
    @Test(arguments: [
        "feDropShadow { flood-color: red }", "fe\\44ropShadow { flood-color: red }", "FEFLOOD { flood-color: red }",
        "filter > :first-child { flood-color: red }", "filter :nth-child(1) { flood-color: red }",
    ])
    func whatRulesAreAboutIsLeft(_ style: String) throws {
        #expect(try pixels("<feDropShadow/>", style: style) == pixels("<feUnknown/>", style: style))
    }

    @Test func elsewhereItIsNothing() throws {
        for body in [
            "<feDropShadow/>", "<g><feDropShadow in='a'/></g>", "<filter xmlns='urn:x'><feDropShadow/></filter>",
        ] {
            #expect(try registry.decode(Drawing.document(body)).bitmap.bytes.allSatisfy { $0 == 0 })
        }
        // Values that are none are librsvg's matter.
        for value in ["NaN", "-1", "1e30", "a", "", "1 2 3"] {
            for name in ["dx", "stdDeviation", "x", "width", "flood-opacity", "in", "result"] {
                _ = try? pixels("<feDropShadow \(name)='\(value)'/>")
            }
        }
    }

    /// Each of them is seven elements.
    @Test func manyAreManyElements() {
        let many = String(repeating: "<feDropShadow/>", count: 40_000)
        let error = #expect(throws: CodecError.self) { try pixels(many) }
        #expect(error?.code == "limitExceeded")
    }

    @Test func unitLengthsAreIgnoredInEveryEncoding() throws {
        let text = String(
            decoding: Drawing.document(
                "<filter id='f'><feDropShadow kernelUnitLength='1e-3'/></filter><rect width='5' height='5' filter='url(#f)'/>"
            ),
            as: UTF8.self)
        let expected = try registry.decode(Data(text.replacing(" kernelUnitLength='1e-3'", with: "").utf8)).bitmap.bytes
        #expect(try registry.decode(Data(text.utf8)).bitmap.bytes == expected)
        #expect(try registry.decode(try #require(text.data(using: .utf16))).bitmap.bytes == expected)
    }
}
