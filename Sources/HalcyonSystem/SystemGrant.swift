import CHalcyonSystem
import Foundation

/// What the system grants this process: a container's limits where there are any, else the machine's.
package struct SystemGrant: Sendable, Equatable {
    /// Processors, at least 1.
    package var cores: Int
    /// Memory in bytes.
    package var memory: Int

    /// The grant of this process, read once.
    package static let current = SystemGrant.read()

    /// Reads cgroup v2, then v1, below `root`; "no limit" falls back to the machine.
    package static func read(root: String = "", affinity: Int? = nil) -> SystemGrant {
        let files = GrantFiles(root: root)
        let online = affinity ?? Int(halcyon_affinity_count())
        let machine = files.machineMemory ?? 1 << 30
        let cores = files.coreQuota.map { Int(min(Double(online), $0.rounded(.up))) } ?? online
        return SystemGrant(cores: max(1, cores), memory: min(machine, files.memoryLimit ?? machine))
    }
}

private struct GrantFiles {
    let root: String

    var machineMemory: Int? {
        guard let text = read("/proc/meminfo") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("MemTotal:") {
            let words = line.split(separator: " ")
            guard words.count > 1, let kilobytes = Int(words[1]), kilobytes > 0 else { continue }
            let (bytes, overflow) = kilobytes.multipliedReportingOverflow(by: 1024)
            return overflow ? .max : bytes
        }
        return nil
    }

    /// The tightest limit from the process's own group up to the root, since each of them binds.
    var memoryLimit: Int? {
        let v2 = ancestors(controller: "").map { read("/sys/fs/cgroup\($0)/memory.max") }
        let v1 = ancestors(controller: "memory").map { read("/sys/fs/cgroup/memory\($0)/memory.limit_in_bytes") }
        return (v2 + v1).compactMap { $0.flatMap { Int($0) } }.filter { $0 > 0 }.min()
    }

    /// Cores that the quota allows, as a fraction; nil without a quota.
    var coreQuota: Double? {
        let v2 = ancestors(controller: "").compactMap { path -> Double? in
            guard let words = read("/sys/fs/cgroup\(path)/cpu.max")?.split(separator: " "), words.count == 2
            else { return nil }
            return Self.share(String(words[0]), String(words[1]))
        }
        let v1 = ancestors(controller: "cpu").compactMap { path -> Double? in
            Self.share(
                read("/sys/fs/cgroup/cpu\(path)/cpu.cfs_quota_us"),
                read("/sys/fs/cgroup/cpu\(path)/cpu.cfs_period_us"))
        }
        return (v2 + v1).min()
    }

    /// Nil for "max", -1 and whatever else is no quota.
    private static func share(_ quota: String?, _ period: String?) -> Double? {
        guard let quota = quota.flatMap({ Int($0) }), let period = period.flatMap({ Int($0) }), quota > 0, period > 0
        else { return nil }
        return Double(quota) / Double(period)
    }

    /// The process's group for a controller ("" is v2) and its parents, the root as "".
    private func ancestors(controller: String) -> [String] {
        guard let text = read("/proc/self/cgroup") else { return [""] }
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3,
                fields[1].split(separator: ",").contains(Substring(controller)) || fields[1] == controller
            else { continue }
            var path = String(fields[2])
            var paths = [""]
            while !path.isEmpty, path != "/" {
                paths.append(path)
                path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            }
            return paths
        }
        return [""]
    }

    private func read(_ path: String) -> String? {
        // By hand: Foundation's reader leaks its buffer where a file gives no length, as those of /proc do.
        guard let file = fopen(root + path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
