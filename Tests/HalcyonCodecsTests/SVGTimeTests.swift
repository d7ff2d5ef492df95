import Foundation
import HalcyonImage
import Testing

@testable import HalcyonCodecs
@testable import HalcyonSVG

/// Drawings that take long by the pixels that they cover: small copies tell.
@Suite(.timeLimit(.minutes(5))) struct SVGTimeTests {
    private let registry = CoderRegistry.standard()
    private static let canvas = PixelSize(2000, 1600)

    /// Reserves the time for a drawing whose copies take `seconds` for the given share of its pixels.
    private func reserve(
        _ work: SVGWork, in time: SVGTime? = nil, seconds: @escaping (Double) -> Double
    ) throws -> (sizes: [PixelSize], spent: Double) {
        var (sizes, spent) = ([PixelSize](), 0.0)
        let clock = TrialClock()
        try (time ?? SVGTime(measure: clock.measure)).reserve(work) { size, _ in
            sizes.append(size)
            let share = Double(size.width * size.height) / Double(work.size.width * work.size.height)
            let needed = seconds(share)
            clock.time += needed
            spent += needed
        }
        return (sizes, spent)
    }

    private static func filtered(_ elements: Int, size: PixelSize = canvas) -> SVGWork {
        var work = SVGWork(size: size, elements: elements)
        work.hasFilters = true
        return work
    }

    private final class TrialClock {
        var time = 0.0

        func measure(_ usesThreads: Bool, _ body: () throws -> Void) throws -> Double {
            let start = time
            try body()
            return time - start
        }
    }

    @Test func drawingsOfFewElementsAreNotTried() throws {
        let tried = try reserve(SVGWork(size: Self.canvas, elements: 50)) { _ in 1 }
        #expect(tried.sizes.isEmpty)
        #expect(try reserve(SVGWork(size: Self.canvas, elements: 5000)) { _ in 0 }.sizes == [PixelSize(15, 12)])
        #expect(try !reserve(Self.filtered(5)) { _ in 0 }.sizes.isEmpty)
        #expect(try reserve(Self.filtered(50, size: PixelSize(64, 64))) { _ in 0 }.sizes.isEmpty)
        #expect(try reserve(SVGWork(size: PixelSize(3, 1), elements: 1 << 40)) { _ in 0 }.sizes == [PixelSize(1, 1)])
    }

    /// Each element costs something, however few pixels it has.
    @Test(arguments: [0.01, 0.1, 1, 3], [0, 1, 5, 10]) func drawingsThatTakeLessAreDrawn(own: Double, pixels: Double)
        throws
    {
        let tried = try reserve(SVGWork(size: Self.canvas, elements: 1_000_000)) { own + pixels * $0 }
        #expect(tried.spent < 6 * own + pixels / 10 + 0.01)
    }

    @Test(arguments: [0.01, 0.1, 1, 3], [30, 100, 1000, 100_000]) func drawingsThatTakeLongAreRefused(
        own: Double, pixels: Double
    ) throws {
        var spent = 0.0
        let error = #expect(throws: CodecError.self) {
            _ = try reserve(SVGWork(size: Self.canvas, elements: 1_000_000)) { share in
                spent += own + pixels * share
                return own + pixels * share
            }
        }
        guard case .limitExceeded("seconds of drawing", let value, 20)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(Double(value) > pixels * 0.9)
        #expect(spent < 7 * (own + 1) + pixels / 2000)
    }

    /// A filter that looks at an area around each pixel takes the square of the pixels.
    @Test func areasAroundPixelsGrowWithTheDrawing() throws {
        let plain = Self.filtered(100)
        var work = plain
        work.hasMorphology = true
        #expect(throws: Never.self) { _ = try reserve(plain) { 0.001 + 10 * $0 } }
        #expect(throws: CodecError.self) { _ = try reserve(work) { 0.001 + 40 * $0 * $0 } }
        #expect(throws: Never.self) { _ = try reserve(work) { 0.001 + 5 * $0 } }
    }

    /// Surfaces beyond 32 MiB take longer than small ones tell.
    @Test func largeSurfacesTakeLonger() throws {
        for (size, hasLayers, isRefused) in [
            (PixelSize(2800, 2800), true, false), (PixelSize(4096, 4096), true, true),
            (PixelSize(4096, 4096), false, false),
        ] {
            var work = SVGWork(size: size, elements: 5000)
            work.hasLayers = hasLayers
            let error = Result { try reserve(work) { 12 * $0 } }
            #expect((try? error.get()) == nil ? isRefused : !isRefused, "\(size) \(hasLayers)")
        }
    }

    /// Fonts take time in small copies that they do not take in the drawing, so the first copies are without text.
    @Test func textIsTriedApart() throws {
        for (seconds, fonts, isRefused) in [(0.0, 500, false), (5.0, 1, false), (400.0, 1, true), (4000.0, 500, true)] {
            var work = SVGWork(size: Self.canvas, elements: 20_000)
            work.fonts = fonts
            let clock = TrialClock()
            var texts = 0
            let result = Result {
                try SVGTime(measure: clock.measure).reserve(work) { size, drawsText in
                    let share = Double(size.width * size.height) / Double(2000 * 1600)
                    clock.time += 0.01 + share
                    guard drawsText else { return }
                    texts += 1
                    clock.time += Double(fonts) * 0.004 + seconds * share
                }
            }
            #expect((try? result.get()) == nil ? isRefused : !isRefused, "\(seconds) \(fonts)")
            #expect(texts > 0)
        }
    }

    /// Fonts that take ten times as long, as on small machines and in builds that check themselves, are not taken for large letters.
    @Test(arguments: [(0.05, 0.0, false), (0.05, 4000.0, true), (0.2, 0.0, false)])
    func fontsOfSlowMachinesAreNoLargeLetters(_ font: Double, _ seconds: Double, isRefused: Bool) {
        let result = Result { try reserveText(seconds) { _ in 300 * font } }
        #expect((try? result.get()) == nil ? isRefused : !isRefused)
    }

    /// Other threads slow some copies down, whichever of them they are; large letters stay too large.
    @Test func copiesThatAreSlowedDownRefuseNothing() throws {
        for slowed in 0..<6 {
            try reserveText(0) { $0 == slowed ? 4 : 1 }
            #expect(throws: CodecError.self) { try reserveText(4000) { $0 == slowed ? 4 : 1 } }
        }
    }

    /// Letters that are only slow are tried a second time, which costs more than those that are refused at once.
    @Test func aCopyIsDrawnASecondTimeAtMost() throws {
        for (seconds, texts) in [(1000.0, 5), (4000.0, 3), (100_000.0, 2)] {
            var drawn = 0
            #expect(throws: CodecError.self) {
                try reserveText(seconds) {
                    drawn = $0 + 1
                    return 1
                }
            }
            #expect(drawn == texts)
        }
    }

    /// A small canvas has no copy that is without the pixels of letters.
    @Test func smallCanvasesDoNotTellTheTimeOfFonts() {
        let work = SVGWork(size: PixelSize(80, 80), elements: 2_000_000)
        #expect(throws: CodecError.self) { try reserveText(0, work) { _ in 20 } }
        #expect(throws: Never.self) { try reserveText(0, work) { _ in 4 } }
    }

    /// Reserves the time of letters of 300 fonts, which take `fonts` seconds in the copy of that number.
    private func reserveText(
        _ seconds: Double, _ work: SVGWork = SVGWork(size: Self.canvas, elements: 20_000), fonts: (Int) -> Double
    ) throws {
        var work = work
        work.fonts = 300
        let clock = TrialClock()
        var copies = 0
        try SVGTime(measure: clock.measure).reserve(work) { size, drawsText in
            clock.time += 0.01
            guard drawsText else { return }
            clock.time += fonts(copies) + seconds * work.share(of: size)
            copies += 1
        }
    }

    @Test func drawingsInsideCountTogether() throws {
        let clock = TrialClock()
        let time = SVGTime(measure: clock.measure)
        for index in 0..<6 {
            let reserve = {
                try time.reserve(SVGWork(size: Self.canvas, elements: 5000)) { size, _ in
                    clock.time += 4 * Double(size.width * size.height) / Double(2000 * 1600)
                }
            }
            if index < 5 { try reserve() } else { #expect(throws: CodecError.self) { try reserve() } }
        }
    }

    /// A measurement that is off by a tenth refuses nothing.
    @Test func noiseRefusesNothing() throws {
        var noise = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            _ = try reserve(SVGWork(size: Self.canvas, elements: 400_000)) {
                (0.8 + 2 * $0) * Double.random(in: 0.95...1.05, using: &noise)
            }
        }
    }

    // MARK: By librsvg

    private func isRefused(_ body: String, size: Int = 2000) -> Bool {
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='\(size)' height='\(size)'>\(body)</svg>"
        do {
            _ = try registry.decode(Data(text.utf8))
            return false
        } catch {
            return (error as? CodecError)?.code == "limitExceeded"
        }
    }

    private static let whole = "<rect width='1900' height='1900' filter='url(#f)'/>"

    private static func filter(_ primitive: String, _ count: Int) -> String {
        "<filter id='f'>\(String(repeating: primitive, count: count))</filter>\(whole)"
    }

    private static func repeated(_ body: String, _ count: Int) -> String { String(repeating: body, count: count) }

    @Test(arguments: [
        filter("<feGaussianBlur stdDeviation='30'/>", 600),
        "<rect width='1900' height='1900' style='filter:\(repeated("blur(30px) ", 600))'/>",
        "<style>rect{filter:\(repeated("blur(30px) ", 600))}</style><rect width='1900' height='1900'/>",
        "<style>rect{f\\69lter:\(repeated("blur(30px) ", 600))}</style><rect width='1900' height='1900'/>",
        filter("<feMerge>\(repeated("<feMergeNode in='SourceGraphic'/>", 5000))</feMerge>", 1),
        filter("<feDiffuseLighting><fePointLight x='1' y='1' z='1'/></feDiffuseLighting>", 600),
        filter("<feTurbulence numOctaves='60' baseFrequency='0.05'/>", 9),
        filter("<feMorphology operator='dilate' radius='60'/>", 4),
        repeated("<g style='mix-blend-mode:hue'><rect width='1900' height='1900'/></g>", 1000),
        "<defs>\(uses)</defs><use href='#a4'/>",
    ])
    func pixelsThatTakeLongAreRefused(_ body: String) {
        #expect(isRefused(body))
        #expect(!isRefused("<svg viewBox='0 0 2000 2000' width='8' height='8'>\(body)</svg>", size: 16))
    }

    /// By what small copies do not show: areas of less than a pixel, and surfaces that are mapped anew.
    @Test(arguments: [
        filter("<feMorphology operator='dilate' radius='7.9'/>", 3),
        filter("<feMorphology operator='dilate' radius='3.9'/>", 9),
        filter("<feGaussianBlur stdDeviation='1.9'/>", 30),
        repeated("<g opacity='.8'><circle r='10'/></g>", 3000),
    ])
    func largeDrawingsThatTakeLongAreRefused(_ body: String) {
        #expect(isRefused("<g transform='scale(2)'>\(body)</g>", size: 4000))
    }

    /// A filter that covers exactly the drawing, whatever the drawing's size is.
    @Test(arguments: [
        repeated("<feMorphology operator='dilate' radius='7.9'/>", 2),
        repeated("<feGaussianBlur stdDeviation='1.9'/>", 20),
    ])
    func filtersOfTheWholeDrawingAreForetold(_ primitives: String) {
        let filter = "<filter id='f' x='0' y='0' width='1' height='1'>\(primitives)</filter>"
        #expect(isRefused(filter + "<rect width='4096' height='4096' fill='red' filter='url(#f)'/>", size: 4096))
    }

    /// The ends of wide dashes have hundreds of points each, and copies have few of them.
    @Test(arguments: [
        "stroke-width='1700' stroke-dasharray='.05'/>",
        "stroke-dasharray='.05'/><style>path { stroke-width: /*;*/ 1700 }</style>",
        "transform='scale(1000)' style='stroke-width:1;stroke-dasharray:.0005'/>",
    ])
    func roundEndsOfWideDashesAreForetold(_ rest: String) {
        #expect(isRefused("<path d='M0 50C1900 60 0 1900 1900 1900' stroke='red' stroke-linecap='round' \(rest)"))
    }

    /// The side of a view box and the width of a line are infinite, and their quotient is no number.
    @Test func roundEndsWithoutANumberAreRefusedOrDrawn() {
        let line = "stroke='red' stroke-width='1e999' stroke-dasharray='1' stroke-linecap='round'"
        let text = """
            <svg xmlns='http://www.w3.org/2000/svg' width='99' height='99' viewBox='0 0 1e999 1e999'>\
            <path d='M0 0L50 50' \(line)/></svg>
            """
        let error = #expect(throws: (any Error).self) { try registry.decode(Data(text.utf8)) }
        #expect(error is CodecError || error is BitmapError)
    }

    @Test func roundEndsOfNarrowDashesAreDrawn() {
        let path =
            "<path d='M0 0L1900 1900' stroke='red' stroke-width='3' stroke-dasharray='1 3' stroke-linecap='round'/>"
        #expect(!isRefused(Self.repeated(path, 20)))
        #expect(!isRefused("<g transform='scale(2)'>\(path)</g>"))
    }

    /// A worker, whose clocks may be others, refuses it before it has drawn for long.
    @Test func aWorkerForetellsAsWell() throws {
        let filter = Self.filter("<feGaussianBlur stdDeviation='30'/>", 600)
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='2000' height='2000'>\(filter)</svg>"
        let options = DecodeOptions(isolation: .isolated(workers: IsolatedDecodeTests.workers))
        let error = #expect(throws: CodecError.self) { try registry.decode(Data(text.utf8), options: options) }
        #expect(error?.code == "limitExceeded")
    }

    /// Four shapes that cover the drawing, 10,000 times.
    private static let uses: String = {
        let shapes = "<g id='a0'>\(repeated("<rect width='1999' height='1999' fill-opacity='.1'/>", 4))</g>"
        return (1...4).reduce(shapes) { $0 + "<g id='a\($1)'>\(repeated("<use href='#a\($1 - 1)'/>", 10))</g>" }
    }()

    /// As maps and drawing programs have them.
    @Test(arguments: [
        repeated("<rect width='9' height='9' x='70' fill-opacity='.5'/>", 40_000),
        repeated("<g opacity='.5'><rect width='400' height='400'/></g>", 60),
        "<filter id='f'><feGaussianBlur stdDeviation='20'/><feOffset dx='4'/></filter>"
            + repeated("<rect x='200' y='200' width='1500' height='1500' filter='url(#f)'/>", 12),
        filter("<feMorphology operator='dilate' radius='3'/>", 1),
    ])
    func ordinaryDrawingsAreDrawn(_ body: String) {
        #expect(!isRefused(body))
    }

    /// Words of many sizes, as in clouds of words and charts of bubbles.
    @Test(arguments: [250, 1000, 2000]) func wordsOfManySizesAreDrawn(_ size: Int) {
        let words = (0..<300).map { index in
            let place = "\(index * 37 % 900), \(index * 71 % 900)"
            return """
                <text transform='translate(\(place)) rotate(\(index % 3 * 90))' font-size='\(8 + Double(index) / 7)px'
                 style='fill:#\(100 + index)'>word\(index)</text><circle cx='\(index)' r='\(index / 9)' fill-opacity='.5'/>
                """
        }
        #expect(!isRefused(words.joined(), size: size))
    }

    // MARK: By what does not grow with pixels

    /// librsvg goes through the stops of a gradient for each shape that it paints.
    @Test(arguments: [
        "<rect width='9' height='9' fill='url(#g)'/>", "<rect width='9' height='9' style='fill:url(#g)'/>",
    ])
    func stopsCountForEachShape(_ shape: String) {
        let stops = Self.repeated("<stop offset='.5'/>", 5000)
        let gradients = [
            "<linearGradient id='g'>\(stops)</linearGradient>",
            "<radialGradient id='g' href='#h'/><linearGradient id='h' href='#i'/><linearGradient id='i'>\(stops)</linearGradient>",
        ]
        for gradient in gradients {
            #expect(isRefused(gradient + Self.repeated(shape, 800), size: 10))
            #expect(!isRefused(gradient + Self.repeated(shape, 20), size: 10))
        }
        let sheet = "<style>rect{fill:url(#g)}</style>" + Self.repeated("<rect width='9' height='9'/>", 800)
        #expect(isRefused(gradients[0] + sheet, size: 10))
        let usual = "<linearGradient id='g'>\(Self.repeated("<stop offset='.5'/>", 20))</linearGradient>"
        #expect(!isRefused(usual + Self.repeated(shape, 20_000), size: 10))
        #expect(!isRefused(usual + "<linearGradient id='h' href='#h'/>" + Self.repeated(shape, 9), size: 10))
    }

    // MARK: Fonts

    /// librsvg prepares each size of a font anew, whatever makes it another one.
    @Test(arguments: [
        texts { "font-size='\(10 + Double($0) / 99)'" },
        texts { "style='fill:red;font-size:\(10 + Double($0) / 99)px'" },
        texts { "transform='scale(\(1 + Double($0) / 999))'" }, texts { "font-family='A\($0)'" },
        texts { "transform='matrix(\(1 + Double($0) / 9) 0 0 1 0 0)'" }, texts { "xml:lang='a-b\($0)'" },
        texts { "class='a\($0)'" }
            + "<style>\((0..<3000).map { ".a\($0){font:bold \($0 + 9)px Arial}" }.joined())</style>",
        repeated("<g font-size='1.01em'><text>a</text>", 200) + repeated("</g>", 200)
            + texts(1900) { "font-size='\(10 + Double($0) / 99)'" },
        "<style>g{font-size:1.001em}</style>" + repeated("<g><text>a</text>", 200) + repeated("</g>", 200)
            + texts(20) { "font-size='\(10 + Double($0) / 99)'" },
        "<g id='t'><text>a</text><text font-size='7'>a</text></g>"
            + (0..<1500).map { "<use href='#t' font-size='\(10 + Double($0) / 99)'/>" }.joined(),
    ])
    func moreFontsThanAreReadAreRefused(_ body: String) {
        #expect(isRefused(body, size: 16))
    }

    /// Letters of the same font are cheap, wherever they lie and however they are turned.
    @Test(arguments: [
        texts { "font-size='\(10 + $0 % 9)' x='\($0)'" }, texts { "style='font-size:9px;fill:#\(100 + $0 % 900)'" },
        texts { "transform='translate(\($0),9)'" }, texts { "transform='rotate(\(Double($0) / 9))'" },
        texts { _ in "class='a'" } + "<style>.a{font-size:9px}</style>",
        (0..<3000).map { "<path id='p\($0)' d='M0 0H9'/><use href='#p\($0)' transform='scale(1.\($0))'/>" }.joined()
            + texts(50) { "font-size='\(9 + $0)'" },
    ])
    func lettersOfFewFontsAreDrawn(_ body: String) {
        #expect(!isRefused(body, size: 16))
    }

    @Test func turnedLettersCount() {
        #expect(isRefused(Self.texts(25_000) { "transform='rotate(\($0))'" }, size: 16))
        #expect(!isRefused(Self.texts(25_000) { "transform='translate(\($0))'" }, size: 16))
    }

    private static func texts(_ count: Int = 3000, _ attributes: (Int) -> String) -> String {
        (0..<count).map { "<text \(attributes($0))>a</text>" }.joined()
    }

    // MARK: Style sheets and attributes

    /// A selector may look at all elements before one, or around it.
    @Test(arguments: [
        "a ~ rect", "rect:nth-child(2n+1)", "rect:NTH-last-child(2)", "rect:nth-of-t\\79pe(3)", "rect:last-of-type",
    ])
    func selectorsThatLookAroundCount(_ selector: String) {
        let sheet = "<style>\(Self.repeated("\(selector) {fill:red} ", 50))</style>"
        #expect(isRefused(sheet + Self.repeated("<rect/>", 8000), size: 10))
        #expect(!isRefused(sheet + Self.repeated("<g>\(Self.repeated("<rect/>", 80))</g>", 100), size: 10))
    }

    /// A rule may have many parts, many declarations, and an element many classes.
    @Test func partsOfRulesCount() {
        let elements = Self.repeated("<g class='a'/>", 40_000)
        let parts = Self.repeated(".a", 6000)
        let declarations = Self.repeated("r:0;", 15_000)
        for rule in [
            "\(parts){r:0}", "a[b=\"{\"]{r:0}\(parts){r:0}", "x{y:url({)}\(parts){r:0} z{y:url(})}",
            "/*{*/\(parts){r:0}/*}*/",
            "x{y:'{'}\(parts){r:0}", "\\61{r:0}\(parts){r:0}", "x{\(parts){r:0}", "*{\(declarations)}",
            "*{\(declarations)",
        ] {
            #expect(isRefused("<style>\(rule)</style>" + elements, size: 10), "\(rule.prefix(30))")
        }
        // As drawing programs write them: a rule for each class, of several declarations.
        let usual = (0..<900).map { ".st\($0){fill:#F0\(1000 + $0);stroke:#000;font-family:'A-B';opacity:0.5;}\n\t" }
            .joined()
        #expect(!isRefused("<style>\(usual)</style>" + elements.prefix(5000 * 14), size: 10))
    }

    @Test func longListsOfClassesCount() {
        let sheet = "<style>\(Self.repeated(".b{r:0}", 20_000))</style>"
        let classes = (0..<20_000).map { "c\($0) " }.joined()
        #expect(isRefused(sheet + "<g class='\(classes)'/>", size: 10))
        #expect(!isRefused(sheet + Self.repeated("<g class='c1 c2'/>", 300), size: 10))
    }

    /// libxml2 compares each attribute of an element with all before it.
    @Test(arguments: ["a", "xmlns:a"]) func attributesWithoutEndAreRefused(_ name: String) {
        func element(_ count: Int) -> String { "<g \((0..<count).map { "\(name)\($0)='u' " }.joined())/>" }
        #expect(isRefused(element(100_000), size: 10))
        #expect(!isRefused(element(500), size: 10))
        let wide =
            Data([0xFF, 0xFE])
            + Data(
                "<svg xmlns='http://www.w3.org/2000/svg'>\(element(100_000))</svg>".data(using: .utf16LittleEndian)
                    ?? Data())
        #expect((#expect(throws: CodecError.self) { try registry.decode(wide) })?.code == "limitExceeded")
    }

    @Test func selectorsCountForTheElementsAroundOne() {
        let sheet = "<style>\(Self.repeated("g b rect {fill:red} ", 3000))</style>"
        let deep = Self.repeated("<g>", 100) + Self.repeated("<rect/>", 8000) + Self.repeated("</g>", 100)
        #expect(isRefused(sheet + deep, size: 10))
        #expect(!isRefused(sheet + "<g>\(Self.repeated("<rect/>", 1000))</g>", size: 10))
    }

}
