import Foundation

/// This process's memory as the kernel counts it, in bytes.
public enum ProcessMemory {
    public static var resident: Int { field("VmRSS") }
    /// The most that was resident since the last `resetPeak`.
    public static var peak: Int { field("VmHWM") }
    /// The memory that no file is behind, in bytes.
    public static var anonymous: Int { field("RssAnon") }
    /// The reserved address space in bytes, touched or not.
    public static var addressSpace: Int { field("VmSize") }

    public static func resetPeak() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }

    private static func field(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
