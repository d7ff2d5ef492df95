import CHalcyonSystem

/// How near this process's control groups are to their limits of memory.
///
/// A limit hits whatever is in the group, so each ancestor's counts, with what all its members use. What the kernel can
/// drop at once, file pages that nobody has used for long, does not.
struct MemoryGauge: Sendable {
    private struct Level: Sendable {
        let limit: Int
        /// The file with the bytes in use.
        let usage: String
        /// The file with what they are used for, and the name of what can be dropped.
        let details: String
        let droppable: String
    }

    private let levels: [Level]
    /// Whether there is a limit at all.
    var hasLimits: Bool { !levels.isEmpty }

    /// - Parameter groups: read anew from time to time, since a limit may be changed at any moment.
    init(_ groups: ControlGroups) {
        func levels(
            _ controller: String, limit: String, usage: String, droppable: String
        ) -> [Level] {
            groups.folders(controller: controller).compactMap { folder in
                // Version 1 says "no limit" with the largest multiple of a page.
                guard let bytes = SystemText.number("\(folder)/\(limit)"), bytes > 0, bytes < 1 << 60 else {
                    return nil
                }
                return Level(
                    limit: bytes, usage: "\(folder)/\(usage)", details: "\(folder)/memory.stat", droppable: droppable)
            }
        }
        self.levels =
            levels("", limit: "memory.max", usage: "memory.current", droppable: "inactive_file")
            + levels(
                "memory", limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes",
                droppable: "total_inactive_file")
    }

    /// The step of the tightest limit; nil while there is room. Costs three system calls a limit, twice as many where
    /// one is near.
    func pressure() -> MemoryPressure? {
        levels.compactMap { level -> MemoryPressure? in
            guard let used = SystemText.number(level.usage), Self.pressure(used: used, of: level.limit) != nil
            else { return nil }
            let droppable = SystemText.read(level.details).flatMap { Self.value(of: level.droppable, in: $0) } ?? 0
            return Self.pressure(used: used - min(used, max(0, droppable)), of: level.limit)
        }.max()
    }

    /// From 80, 90 and 95 per cent of the limit on.
    static func pressure(used: Int, of limit: Int) -> MemoryPressure? {
        guard limit > 0 else { return nil }
        let share = Double(used) / Double(limit)
        return share >= 0.95 ? .critical : share >= 0.9 ? .high : share >= 0.8 ? .warning : nil
    }

    /// The number behind a name, a line each.
    static func value(of name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == name { return Int(words[1]) }
        }
        return nil
    }
}

/// Gives the free pages of the heap back to the system.
///
/// glibc keeps what a library has freed, and keeps larger and larger blocks the larger those are that go through it: in a
/// container a few decodes with tens of megabytes of a library's own would stay resident for good.
package enum HeapTrim {
    private static let leastBytes = 4 << 20

    /// Trims after work that took this much of the heap: below 4 MiB not at all, since it costs about a millisecond.
    package static func after(_ bytes: Int) {
        if bytes >= leastBytes { halcyon_trim_heap() }
    }
}
