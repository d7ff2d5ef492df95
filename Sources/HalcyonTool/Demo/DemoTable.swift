import Foundation
import Halcyon

/// The demo's summary: a line for each image and for each pass.
struct DemoTable {
    let items: [DemoItem]
    /// The duration of each pass in milliseconds.
    let totals: [Double]

    var lines: [String] {
        let heading = ["image", "format", "pixels", "bytes"] + DemoPass.allCases.map { $0.short }
        var rows = [heading]
        rows += items.filter { $0.response != nil }.map(row)
        var lines = Self.aligned(rows)
        let failures = items.compactMap { item in
            item.failure.map { "\(item.title): \($0.code): \($0.message)" }
        }
        if !failures.isEmpty { lines += [""] + failures }
        lines.append("")
        for (pass, total) in zip(DemoPass.allCases, totals) {
            lines.append("\(pass.title): \(Milliseconds.text(total))")
        }
        return lines
    }

    private func row(_ item: DemoItem) -> [String] {
        let image = item.response?.image
        let frames = image.map { $0.info.frameCount > 1 ? " (\($0.info.frameCount) frames)" : "" } ?? ""
        return [
            item.title, (image?.info.format.name ?? "") + frames, image.map { "\($0.info.size)" } ?? "",
            item.response?.metrics.bytes.map(String.init) ?? "",
        ]
            + item.outcomes.map { outcome in
                guard case .success(let response) = outcome.result else { return "failed" }
                return "\(response.origin.rawValue) \(Milliseconds.text(outcome.milliseconds))"
            }
    }

    /// Pads the columns to their widest cell. Numbers are flush right, which makes them easier to compare.
    private static func aligned(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column < 2 ? text + space : space + text
            }.joined(separator: "  ")
        }
    }
}

/// Formats durations for the demo, with just enough digits to compare them.
enum Milliseconds {
    static func text(_ value: Double) -> String {
        switch value {
        case ..<0.1: String(format: "%.3f ms", value)
        case ..<10: String(format: "%.1f ms", value)
        default: String(format: "%.0f ms", value)
        }
    }
}
