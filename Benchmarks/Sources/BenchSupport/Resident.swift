import Foundation

/// The resident memory of this process in bytes, as the kernel counts it.
package enum Resident {
    package static var now: Int { field("VmRSS") }
    /// The peak since the last `reset`.
    package static var peak: Int { field("VmHWM") }

    /// Makes the kernel forget the peak.
    package static func reset() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }

    private static func field(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}

/// Formats bytes as mebibytes with one decimal.
package func mebibytes(_ bytes: Int) -> String { String(format: "%.1f MiB", Double(bytes) / 1_048_576) }
