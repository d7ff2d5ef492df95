import Foundation
import Testing

/// Holds the charts of docs/Architecture.md, and its tables of hostile input, to the code: what they name is declared.
@Suite struct ArchitectureChartTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The lines of each chart.
    private static func charts() throws -> [[Substring]] {
        let text = try String(contentsOf: root.appending(path: "docs/Architecture.md"), encoding: .utf8)
        var charts: [[Substring]] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```mermaid" {
                charts.append([])
                isInside = true
            } else if line.hasPrefix("```") {
                isInside = false
            } else if isInside {
                charts[charts.count - 1].append(line)
            }
        }
        return charts
    }

    /// Words with a capital inside, as only types have.
    private static func types(in lines: [Substring]) -> Set<Substring> {
        let words = lines.flatMap { $0.split { !$0.isLetter && !$0.isNumber } }
        return Set(words.filter { $0.first?.isUppercase == true && $0.dropFirst().contains(where: \.isUppercase) })
            .filter { $0.contains(where: \.isLowercase) }
    }

    @Test func aLoadAndALookUpAreDrawn() throws {
        let charts = try Self.charts()
        #expect(charts.contains { Self.types(in: $0).isSuperset(of: ["ImageRequest", "ImageDownloader"]) })
        #expect(charts.contains { Self.types(in: $0).contains("DiskCache") })
    }

    @Test func whatChartsNameIsDeclared() throws {
        let sources = try DeclarationIndex(folder: Self.root.appending(path: "Sources"))
        for chart in try Self.charts() {
            for name in Self.types(in: chart) { #expect(sources.declares(String(name)), "\(name)") }
        }
    }
    @Test func whatHostileInputCanDoIsTried() throws {
        let text = try String(contentsOf: Self.root.appending(path: "docs/Architecture.md"), encoding: .utf8)
        let section = try #require(
            text.firstRange(of: "\n## What hostile input can do\n").map { text[$0.upperBound...] })
        let end = section.firstRange(of: "\n## ")?.lowerBound ?? section.endIndex
        let rows = section[..<end].split(separator: "\n").filter {
            $0.hasPrefix("|") && !$0.hasPrefix("| threat |") && !$0.hasPrefix("| --- |")
        }
        #expect(rows.count >= 40)
        let sources = try DeclarationIndex(folder: Self.root.appending(path: "Sources"))
        let tests = try DeclarationIndex(folder: Self.root.appending(path: "Tests"))
        for row in rows {
            let cells = row.split(separator: "|")
            try #require(cells.count == 4, "\(row)")
            let (places, shownBy) = (Self.code(in: cells[2]), Self.code(in: cells[3]))
            #expect(!places.isEmpty && !shownBy.isEmpty, "\(row)")
            for place in places { #expect(sources.declares(place), "\(place)") }
            for test in shownBy { #expect(tests.hasTest(test), "\(test)") }
        }
    }

    /// What stands between backquotes.
    private static func code(in cell: Substring) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }
}
