import Foundation
import Testing

@testable import ImageURLs

/// The tables of the pages on moving, read and asked row by row.
@Suite struct MigrationPageTests {
    /// The cells of the rows of a section's table.
    private static func rows(of section: String, on page: String) throws -> [[String]] {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        let file = folder.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "docs/\(page).md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let parts = text.components(separatedBy: "\n## ")
        let part = try #require(parts.first { $0.hasPrefix("\(section)\n") })
        let lines = part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
        return lines.map { line in
            line.dropFirst().dropLast().components(separatedBy: " | ").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The words in backticks.
    private static func words(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.offset % 2 == 1 ? String($0.element) : nil }
    }

    /// Whether the grammar refuses the option by its name.
    private static func isUnknown(_ error: ImageURLError?, _ name: String) -> Bool { error == .unsupported(name) }

    @Test func optionsOfImgproxy() throws {
        let rows = try Self.rows(of: "Options", on: "ImgproxyURLs")
        #expect(rows.count > 25)
        var known: Set<String> = []
        for row in rows {
            try #require(row.count == 3, "\(row)")
            for name in Self.words(row[1]) where !"@.-".contains(name.prefix(1)) {
                let isRefused = row[2] == "422"
                let asked = name.replacing("*", with: "second")
                #expect(Self.isUnknown(failure { try imgproxy("\(asked):1") }, asked) == isRefused, "\(name)")
                if !isRefused { known.insert(name) }
            }
        }
        #expect(known == Set(ImgproxyOption.named.keys))
    }

    @Test func filtersOfThumbor() throws {
        let rows = try Self.rows(of: "Filters", on: "ThumborURLs")
        #expect(rows.count > 10)
        var (known, refused) = (0, 0)
        for row in rows {
            try #require(row.count == 2, "\(row)")
            for name in Self.words(row[0]) {
                let isRefused = row[1] == "422"
                let error = failure { try thumbor("filters:\(name)(1)/\(picture)") }
                #expect(Self.isUnknown(error, "filters:\(name)") == isRefused, "\(name)")
                if isRefused { refused += 1 } else { known += 1 }
            }
        }
        #expect(known > 20 && refused == 12)
    }
}
