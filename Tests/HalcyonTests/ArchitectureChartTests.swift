import Foundation
import Testing

/// Holds the charts of docs/Architecture.md to the code: what they name is declared.
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
}
