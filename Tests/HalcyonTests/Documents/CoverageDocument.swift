import Foundation

/// The tables of docs/Coverage.md.
struct CoverageDocument {
    /// The outcome of an ID of the inventory.
    struct Row {
        let id: String
        let ours: String
        let shownBy: String
        let state: String

        var isDone: Bool { state == "done" }
        var symbols: [String] { CoverageDocument.codeSpans(ours) }
        var tests: [String] { CoverageDocument.codeSpans(shownBy) }
    }

    /// A line of a source document, and the rows that answer it.
    struct Line {
        let name: String
        let rows: [String]
    }

    private(set) var rows: [Row] = []
    private(set) var lines: [Line] = []
    /// The counts of each state in the head.
    private(set) var counts: [String: Int] = [:]

    /// Lines that look like a table's but belong to none that is known.
    private(set) var strayLines: [String] = []

    init(_ text: String) {
        var header: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                header = []
                continue
            }
            let cells = Self.cells(line)
            if header.isEmpty {
                header = cells
            } else if !cells.allSatisfy({ $0.allSatisfy { $0 == "-" } }) {
                read(cells, under: header, line: line)
            }
        }
    }

    private mutating func read(_ cells: [String], under header: [String], line: Substring) {
        switch header {
        case ["ID", "what the sources have", "ours", "shown by", "state"] where cells.count == 5:
            rows.append(Row(id: cells[0], ours: cells[2], shownBy: cells[3], state: cells[4]))
        case ["line", "item", "rows"] where cells.count == 3:
            lines.append(Line(name: cells[0], rows: cells[2].split(separator: ", ").map(String.init)))
        case ["state", "rows"] where cells.count == 2 && Int(cells[1]) != nil:
            counts[cells[0]] = Int(cells[1])
        default:
            strayLines.append(String(line))
        }
    }

    /// The cells between the bars, of which an escaped one is text.
    private static func cells(_ line: Substring) -> [String] {
        line.replacing("\\|", with: "\u{0}").split(separator: "|").map {
            $0.replacing("\u{0}", with: "|").trimmingCharacters(in: .whitespaces)
        }
    }

    private static func codeSpans(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) == false }.map { String($0.element) }
    }
}
