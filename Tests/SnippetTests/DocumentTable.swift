import Foundation

/// A table of a document.
struct DocumentTable {
    var header: [String]
    var rows: [[String]] = []

    /// Each table: a row of cells, a rule, more rows.
    static func tables(in text: String) -> [DocumentTable] {
        let lines = text.components(separatedBy: "\n")
        var tables: [DocumentTable] = []
        for (index, line) in lines.enumerated() where line.hasPrefix("|") {
            if line.hasPrefix("| ---") { continue }
            if index + 1 < lines.count, lines[index + 1].hasPrefix("| ---") {
                tables.append(DocumentTable(header: cells(of: line)))
            } else if !tables.isEmpty {
                tables[tables.count - 1].rows.append(cells(of: line))
            }
        }
        return tables
    }

    /// Returns the text between backquotes.
    static func code(in cell: String) -> [String] {
        cell.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    private static func cells(of line: String) -> [String] {
        line.components(separatedBy: "|").dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
