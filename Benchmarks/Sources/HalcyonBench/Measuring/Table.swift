import CFloors
import Foundation

/// The outcomes as a Markdown table, which is also readable in a terminal.
struct Table {
    private static let heads = [
        "what", "variant", "unit", "Halcyon", "median", "floor", "median", "ratio", "CPU ratio",
    ]
    private let outcomes: [Outcome]

    init(_ outcomes: [Outcome]) {
        self.outcomes = outcomes
    }

    var text: String {
        let rows = outcomes.map(Self.cells)
        let widths = Self.heads.indices.map { column in
            ([Self.heads] + rows).map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            let padded = cells.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column < 3 ? cell + space : space + cell
            }
            return "| " + padded.joined(separator: " | ") + " |"
        }
        let rule = widths.enumerated().map { column, width in
            column < 3 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
        }
        let lines = [line(Self.heads), line(rule)] + rows.map(line) + notes
        return lines.joined(separator: "\n")
    }

    /// The lines for values that only some outcomes have.
    private var notes: [String] {
        let figures = outcomes.compactMap { outcome -> String? in
            guard let rate = outcome.imagesPerSecond, let floorRate = outcome.floorImagesPerSecond else { return nil }
            var note = "\(outcome.name), \(outcome.variant): \(Int(rate)) images/s, floor \(Int(floorRate))"
            if let growth = outcome.residentGrowth, let floorGrowth = outcome.floorResidentGrowth {
                note += "; resident memory grew by \(growth >> 20) MiB at its peak, floor \(floorGrowth >> 20)"
            }
            return note
        }
        return [""] + outcomes.flatMap(Self.rivals) + figures + [String(cString: bench_library_versions())]
    }

    /// Returns a line for each rival, with its time and Halcyon's ratio to it.
    private static func rivals(_ outcome: Outcome) -> [String] {
        guard let rivals = outcome.rivals else { return [] }
        let lines = rivals.map { rival in
            var line = "    \(rival.name): \(short(rival.cpuMinimum)) \(outcome.unit) of processor time, ratio "
            line += String(format: "%.2f", outcome.cpuMinimum / rival.cpuMinimum)
            if let likeness = rival.likeness { line += String(format: ", %.1f dB", likeness) }
            return line + "; \(rival.note)" + (rival.isAlike ? "" : " (not the same work)")
        }
        return ["\(outcome.name), \(outcome.variant): Halcyon \(short(outcome.cpuMinimum)) \(outcome.unit)"] + lines
    }

    private static func cells(_ outcome: Outcome) -> [String] {
        let times = [outcome.minimum, outcome.median, outcome.floorMinimum, outcome.floorMedian].map { time in
            time.map(short) ?? "-"
        }
        let ratios = [outcome.ratio, outcome.cpuRatio].map { ratio in
            ratio.map { String(format: "%.2f", $0) } ?? "-"
        }
        return [outcome.name, outcome.variant, outcome.unit] + times + ratios
    }

    private static func short(_ value: Double) -> String {
        String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
    }
}
