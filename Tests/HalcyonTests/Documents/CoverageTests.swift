import Foundation
import Testing

/// Checks docs/Coverage.md: no ID is left out, and no row claims what is not there.
@Suite struct CoverageTests {
    private static let root = DeclarationIndex.root

    private static func document() throws -> CoverageDocument {
        CoverageDocument(try String(contentsOf: root.appending(path: "docs/Coverage.md"), encoding: .utf8))
    }

    private static func index(_ folder: String) throws -> DeclarationIndex {
        let index = try DeclarationIndex(folder: root.appending(path: folder))
        try #require(!index.isEmpty)
        return index
    }

    private static func report(_ problems: [String]) {
        for problem in problems { Issue.record("\(problem)") }
    }

    @Test func everyIdentifierHasOneRow() throws {
        let document = try Self.document()
        Self.report(document.strayLines.map { "\($0): no row of a table that is known" })
        Self.report(Self.differences(document.rows.map(\.id), from: Self.requiredIdentifiers))
    }

    @Test func everyLineOfTheSourcesLeadsToRows() throws {
        let document = try Self.document()
        Self.report(Self.differences(document.lines.map(\.name), from: Self.requiredLines))
        Self.report(Self.brokenLines(document))
    }

    @Test func statesAreKnown() throws {
        Self.report(try Self.document().rows.compactMap(Self.wrongState))
    }

    @Test func theHeadCountsTheRows() throws {
        Self.report(Self.wrongCounts(try Self.document()))
    }

    @Test func doneRowsNameWhatIsDeclared() throws {
        let sources = try Self.index("Sources")
        let tool = try Self.index("Sources/HalcyonTool")
        for row in try Self.document().rows where row.isDone {
            Self.report(Self.missingSymbols(row, sources: sources, tool: tool))
        }
    }

    @Test func doneRowsNameTestsThatExist() throws {
        let tests = try Self.index("Tests")
        for row in try Self.document().rows where row.isDone { Self.report(Self.missingTests(row, tests: tests)) }
    }
}

// MARK: - The inventory

extension CoverageTests {
    /// The IDs of the inventory.
    private static let capabilities: [(String, ClosedRange<Int>)] = [
        ("SRC", 1...22), ("OPT", 1...10), ("MGR", 1...33), ("DL", 1...22), ("RT", 1...7), ("MEM", 1...8),
        ("DSK", 1...26),
        ("SER", 1...4), ("COD", 1...26), ("PRC", 1...18), ("PRE", 1...5), ("VW", 1...15), ("AN", 1...10), ("EV", 1...3),
        ("ERR", 1...3), ("UT", 1...5), ("T", 1...51),
    ]

    /// The lines of the source documents that no other row covers.
    private static let ownLines = [
        "S0": [13], "S1": [7, 10], "S2": [8, 9, 15, 18, 20, 24, 32, 34, 35, 43], "S3": [1, 4, 11], "S4": [3, 7, 9],
    ]

    private static let requiredIdentifiers: [String] =
        capabilities.flatMap { name, numbers in numbers.map { "\(name)-\($0)" } }
        + (1...39).map { "1.\($0)" }
        + ownLines.flatMap { name, numbers in numbers.map { "\(name).\($0)" } }

    private static let requiredLines: [String] = [("S0", 22), ("S1", 10), ("S2", 43), ("S3", 12), ("S4", 12)]
        .flatMap { name, count in (1...count).map { "\(name).\($0)" } }
}

// MARK: - What can be wrong

extension CoverageTests {
    private static let areas: Set<Substring> = ["formats", "caches", "network", "processing", "views"]

    private static func differences(_ found: [String], from required: [String]) -> [String] {
        let counts = Dictionary(found.map { ($0, 1) }, uniquingKeysWith: +)
        let known = Set(required)
        return required.filter { counts[$0] == nil }.map { "\($0): missing" }
            + counts.filter { $0.value > 1 }.map { "\($0.key): there \($0.value) times" }
            + counts.keys.filter { !known.contains($0) }.map { "\($0): not in the inventory" }
    }

    private static func brokenLines(_ document: CoverageDocument) -> [String] {
        let rows = Set(document.rows.map(\.id))
        let lines = Set(document.lines.map(\.name))
        return document.lines.flatMap { line -> [String] in
            var wrong: [String] = []
            if line.rows.isEmpty { wrong.append("\(line.name): leads to no row") }
            if rows.contains(line.name), !line.rows.contains(line.name) {
                wrong.append("\(line.name): does not lead to its own row")
            }
            for row in line.rows {
                if !rows.contains(row) { wrong.append("\(line.name): there is no row \(row)") }
                if lines.contains(row), row != line.name {
                    wrong.append("\(line.name): leads to the row of another line, \(row)")
                }
            }
            return wrong
        }
    }

    private static func wrongState(_ row: CoverageDocument.Row) -> String? {
        let parts = row.state.split(separator: ": ", maxSplits: 1)
        switch parts.first {
        case "done" where parts.count == 1:
            if row.symbols.isEmpty { return "\(row.id): done, and names no symbol" }
            return row.tests.isEmpty ? "\(row.id): done, and names no test" : nil
        case "planned" where parts.count == 2 && areas.contains(parts[1]),
            "void" where parts.count == 1 && row.ours.contains("because"):
            return row.symbols.isEmpty && row.tests.isEmpty ? nil : "\(row.id): only a done row names symbols and tests"
        case "void" where parts.count == 1: return "\(row.id): void, and does not say why"
        default: return "\(row.id): '\(row.state)' is not a state"
        }
    }

    private static func wrongCounts(_ document: CoverageDocument) -> [String] {
        let found = Dictionary(
            document.rows.map { ($0.state.split(separator: ":").first.map(String.init) ?? "", 1) },
            uniquingKeysWith: +)
        return Set(found.keys).union(document.counts.keys).sorted().compactMap { state in
            let (said, counted) = (document.counts[state] ?? 0, found[state] ?? 0)
            return said == counted ? nil : "\(state): the head says \(said), the rows are \(counted)"
        }
    }

    private static func missingSymbols(
        _ row: CoverageDocument.Row, sources: DeclarationIndex, tool: DeclarationIndex
    ) -> [String] {
        row.symbols.compactMap { symbol in
            let words = symbol.split(separator: " ")
            let isThere = words.first == "halcyon" ? tool.hasUsage(Array(words.dropFirst())) : sources.declares(symbol)
            return isThere ? nil : "\(row.id): nothing declares '\(symbol)'"
        }
    }

    private static func missingTests(_ row: CoverageDocument.Row, tests: DeclarationIndex) -> [String] {
        row.tests.filter { !tests.hasTest($0) }.map { "\(row.id): there is no test '\($0)'" }
    }
}

// MARK: - The checks themselves

extension CoverageTests {
    private static func rows(_ lines: String...) -> CoverageDocument {
        CoverageDocument(
            (["| ID | what the sources have | ours | shown by | state |", "| --- | --- | --- | --- | --- |"] + lines)
                .joined(separator: "\n"))
    }

    @Test func aMissingAndADoubledRowAreFound() {
        let document = Self.rows(
            "| A-1 | x | y | – | void |", "| A-1 | x | y | – | void |", "| A-3 | x | y | – | void |")
        let problems = Self.differences(document.rows.map(\.id), from: ["A-1", "A-2"])
        #expect(problems == ["A-2: missing", "A-1: there 2 times", "A-3: not in the inventory"])
    }

    private static let states: [(String, String, String, String?)] = [
        ("`Cat`", "`CatTests.purrs`", "done", nil),
        ("Cat", "`CatTests.purrs`", "done", "A-1: done, and names no symbol"),
        ("`Cat`", "–", "done", "A-1: done, and names no test"),
        ("cats", "–", "planned: views", nil),
        ("cats", "–", "planned: cats", "A-1: 'planned: cats' is not a state"),
        ("cats", "–", "doing", "A-1: 'doing' is not a state"),
        ("`Cat`", "–", "planned: views", "A-1: only a done row names symbols and tests"),
        ("none, because of dogs", "–", "void", nil),
        ("none", "–", "void", "A-1: void, and does not say why"),
    ]

    @Test(arguments: states)
    func aWrongStateIsFound(ours: String, shownBy: String, state: String, problem: String?) throws {
        let row = try #require(Self.rows("| A-1 | x | \(ours) | \(shownBy) | \(state) |").rows.first)
        #expect(Self.wrongState(row) == problem)
    }

    @Test func aWrongCountIsFound() {
        let document = CoverageDocument("| state | rows |\n| --- | --- |\n| done | 2 |\n| void | 0 |")
        #expect(Self.wrongCounts(document) == ["done: the head says 2, the rows are 0"])
    }

    @Test func aLineThatLeadsNowhereIsFound() {
        let document = CoverageDocument("| line | item | rows |\n| --- | --- | --- |\n| S0.1 | x | A-1 |")
        #expect(Self.brokenLines(document) == ["S0.1: there is no row A-1"])
    }

    @Test(arguments: [
        ("Cat", true), ("Cat.purr", true), ("Cat.init", true), ("Cat.Tail", true), ("Cat.Tail.long", true),
        ("Cat.short", true), ("halcyon pet --max-strokes", true), ("halcyon pet --on", true), ("Dog", false),
        ("Cat.bark", false), ("Cat.hidden", false), ("purr", false), ("halcyon feed", false),
        ("halcyon pet --off", false),
    ])
    func aSymbolThatIsNotDeclaredIsFound(symbol: String, isThere: Bool) throws {
        let index = DeclarationIndex(texts: [
            """
            // let hidden = 1
            struct Cat {
                enum Tail {
                    case long(Int, Int), short
                }
                init() {}
                func purr() {}
            }
            """,
            """
            struct Pet: ParsableCommand {
                static let configuration = CommandConfiguration(commandName: "pet")
                @Option(help: "How often.") var maxStrokes = 1
                @Flag(
                    name: .customLong("on"))
                var isOn = false
            }
            """,
        ])
        let row = try #require(Self.rows("| A-1 | x | `\(symbol)` | – | done |").rows.first)
        let problems = Self.missingSymbols(row, sources: index, tool: index)
        #expect(problems == (isThere ? [] : ["A-1: nothing declares '\(symbol)'"]))
    }

    @Test(arguments: [("CatTests.purrs", true), ("CatTests.helper", false), ("DogTests.purrs", false)])
    func aTestThatDoesNotExistIsFound(name: String, isThere: Bool) throws {
        let index = DeclarationIndex(texts: [
            "@Suite struct CatTests {\n    @Test(arguments: [1])\n    func purrs(_ n: Int) {}\n    func helper() {}\n}"
        ])
        let row = try #require(Self.rows("| A-1 | x | `Cat` | `\(name)` | done |").rows.first)
        #expect(Self.missingTests(row, tests: index) == (isThere ? [] : ["A-1: there is no test '\(name)'"]))
    }
}
