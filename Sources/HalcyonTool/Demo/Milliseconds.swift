import Foundation

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
