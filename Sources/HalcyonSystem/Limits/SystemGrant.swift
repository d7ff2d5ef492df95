import CHalcyonSystem

/// The resources that the system grants this process: a container's limits if there are any, else the machine's.
package struct SystemGrant: Sendable, Equatable {
    /// The number of processors, at least 1.
    package var cores: Int
    /// The memory in bytes.
    package var memory: Int

    /// The grant of this process, read once.
    package static let current = SystemGrant.read()

    /// Reads cgroup v2 and v1 below `root`; the tightest limit counts, and "no limit" falls back to the machine.
    package static func read(root: String = "", affinity: Int? = nil) -> SystemGrant {
        let files = GrantFiles(root: root)
        let online = affinity ?? Int(halcyon_affinity_count())
        let machine = files.machineMemory ?? 1 << 30
        let cores = files.coreQuota.map { Int(min(Double(online), $0.rounded(.up))) } ?? online
        return SystemGrant(cores: max(1, cores), memory: min(machine, files.memoryLimit ?? machine))
    }
}

private struct GrantFiles {
    private let root: String
    private let groups: ControlGroups

    init(root: String) {
        self.root = root
        groups = ControlGroups(root: root)
    }

    var machineMemory: Int? {
        guard let text = SystemText.read(root + "/proc/meminfo") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("MemTotal:") {
            let words = line.split(separator: " ")
            guard words.count > 1, let kilobytes = Int(words[1]), kilobytes > 0 else { continue }
            let (bytes, overflow) = kilobytes.multipliedReportingOverflow(by: 1024)
            return overflow ? .max : bytes
        }
        return nil
    }

    /// The tightest memory limit from the process's own group up to the root, since each of them applies.
    var memoryLimit: Int? {
        let v2 = groups.folders(controller: "").map { SystemText.number("\($0)/memory.max") }
        let v1 = groups.folders(controller: "memory").map { SystemText.number("\($0)/memory.limit_in_bytes") }
        return (v2 + v1).compactMap { $0 }.filter { $0 > 0 }.min()
    }

    /// The number of cores that the quota allows, as a fraction; nil without a quota.
    var coreQuota: Double? {
        let v2 = groups.folders(controller: "").compactMap { folder -> Double? in
            guard let words = SystemText.read("\(folder)/cpu.max")?.split(whereSeparator: \.isWhitespace),
                words.count == 2
            else { return nil }
            return Self.share(Int(words[0]), Int(words[1]))
        }
        let v1 = groups.folders(controller: "cpu").compactMap { folder -> Double? in
            Self.share(
                SystemText.number("\(folder)/cpu.cfs_quota_us"), SystemText.number("\(folder)/cpu.cfs_period_us"))
        }
        return (v2 + v1).min()
    }

    /// Returns the number of cores of a quota; nil for "max", -1 and anything else that is not a quota.
    private static func share(_ quota: Int?, _ period: Int?) -> Double? {
        guard let quota, let period, quota > 0, period > 0 else { return nil }
        return Double(quota) / Double(period)
    }
}
