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

    /// The processes that this one has started and that have not ended.
    public static var children: [pid_t] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.flatMap { thread in
            text("/proc/self/task/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// Resets the peak of a child, and returns what is resident of it then; nil if the kernel does not allow it.
    public static func resetPeak(of child: pid_t) -> Int? {
        do {
            try Data("5".utf8).write(to: URL(filePath: "/proc/\(child)/clear_refs"))
            return field("VmRSS", of: "\(child)")
        } catch {
            return nil
        }
    }

    /// The most that was resident of a child since the last `resetPeak(of:)`; 0 if it has ended.
    public static func peak(of child: pid_t) -> Int { field("VmHWM", of: "\(child)") }

    private static func field(_ name: String, of process: String = "self") -> Int {
        let line = text("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Reads by a handle: Foundation's functions for whole files leak 4 KiB for each file that is empty, as most lists of children
    /// are (Swift 6.3).
    private static func text(_ path: String) -> String {
        let data = try? FileHandle(forReadingAtPath: path)?.readToEnd()
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
