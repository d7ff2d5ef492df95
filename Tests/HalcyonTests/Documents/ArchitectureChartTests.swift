import Foundation
import Testing

/// Holds the charts of docs/Architecture.md, and its tables of hostile input, to the code, and its tree to the folders.
@Suite struct ArchitectureChartTests {
    private static let root = DeclarationIndex.root

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

    @Test func typesNamedInChartsAreDeclared() throws {
        let sources = try DeclarationIndex(folder: Self.root.appending(path: "Sources"))
        for chart in try Self.charts() {
            for name in Self.types(in: chart) { #expect(sources.declares(String(name)), "\(name)") }
        }
    }

    /// The lines of a section.
    private static func section(_ title: String) throws -> Substring {
        let text = try String(contentsOf: root.appending(path: "docs/Architecture.md"), encoding: .utf8)
        let section = try #require(text.firstRange(of: "\n## \(title)\n").map { text[$0.upperBound...] })
        return section[..<(section.firstRange(of: "\n## ")?.lowerBound ?? section.endIndex)]
    }

    /// Every folder has a line that describes its content, and no line names a folder that is not there.
    @Test func theTreeIsThatOfTheDisk() throws {
        let lines = try Self.section("The tree").split(separator: "\n").filter { $0.hasPrefix("- `") }
        let told = lines.compactMap { $0.wholeMatch(of: /- `([\w\/]+)`: .+\./)?.output.1 }.map(String.init)
        #expect(told.count == lines.count && told == Array(Set(told)).sorted())
        let sources = Self.root.appending(path: "Sources").resolvingSymlinksInPath()
        var there: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) {
            let parts = path.split(separator: "/").dropLast()
            // Headers lie where the build looks for them, the modules of libraries are of one kind, and pages are not code.
            if parts.contains("include") || parts.contains(where: { $0.hasSuffix(".docc") }) { continue }
            let shown = parts.first == "CLibraries" ? parts.prefix(1) : parts
            for count in 0..<shown.count { there.insert(shown.prefix(count + 1).joined(separator: "/")) }
        }
        for folder in there.subtracting(told).sorted() { Issue.record("\(folder) has no line") }
        for folder in Set(told).subtracting(there).sorted() { Issue.record("\(folder) is not there") }
    }

    @Test func listedThreatsNameExistingTests() throws {
        let rows = try Self.section("What hostile input can do").split(separator: "\n").filter {
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

    /// Returns the text between backquotes.
    private static func code(in cell: Substring) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }
}
