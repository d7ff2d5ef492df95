import Foundation

/// A control group with a memory limit, of version 1 or 2, whichever the machine has.
struct ControlGroup {
    let version: String
    private let folder: URL
    private let isFirst: Bool

    /// - Throws: `MemoryFailure` if this process may not create one.
    init(limit: Int) throws {
        let name = "halcyon-memory-\(ProcessInfo.processInfo.processIdentifier)"
        let first = URL(filePath: "/sys/fs/cgroup/memory")
        isFirst = FileManager.default.fileExists(atPath: first.path)
        version = isFirst ? "cgroup v1" : "cgroup v2"
        folder = (isFirst ? first : URL(filePath: "/sys/fs/cgroup")).appending(path: name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try write("\(limit)", to: isFirst ? "memory.limit_in_bytes" : "memory.max")
        } catch {
            throw MemoryFailure("a control group cannot be made here: \(error)")
        }
    }

    /// The path of the file that a process writes its identifier to in order to join the group.
    var membership: String { folder.appending(path: "cgroup.procs").path }

    var peak: Int { Int(read(isFirst ? "memory.max_usage_in_bytes" : "memory.peak")) ?? 0 }

    /// The number of times that the kernel killed a process in the group.
    var kills: String {
        let text = read(isFirst ? "memory.oom_control" : "memory.events")
        let line = text.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
        return line.map { String($0.dropFirst("oom_kill ".count)) } ?? "an unknown number of"
    }

    func remove() { rmdir(folder.path) }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    private func read(_ name: String) -> String {
        let data = try? Data(contentsOf: folder.appending(path: name))
        return String(decoding: data ?? Data(), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
