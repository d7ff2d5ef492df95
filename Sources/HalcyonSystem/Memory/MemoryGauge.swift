/// A reading of how near this process's control groups are to their memory limits.
///
/// A limit applies to all processes of a group, so each ancestor's limit counts, against what all its members use. Memory that
/// the kernel can reclaim at once, file pages that have not been used for long, does not count.
struct MemoryGauge: Sendable {
    private struct Level: Sendable {
        let limit: Int
        /// The file with the number of bytes in use.
        let usage: String
        /// The file with the breakdown of the usage, and the name of the reclaimable part in it.
        let details: String
        let droppable: String
    }

    private let levels: [Level]
    /// Whether there is any limit.
    var hasLimits: Bool { !levels.isEmpty }

    /// - Parameter groups: the control groups, read anew from time to time, since a limit may change at any moment.
    init(_ groups: ControlGroups) {
        func levels(
            _ controller: String, limit: String, usage: String, droppable: String
        ) -> [Level] {
            groups.folders(controller: controller).compactMap { folder in
                // Version 1 expresses "no limit" as the largest multiple of a page.
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

    /// Returns the step of the tightest limit; nil while there is room. Costs three system calls for each limit, and twice as
    /// many for one that is near.
    func pressure() -> MemoryPressure? {
        levels.compactMap { level -> MemoryPressure? in
            guard let used = SystemText.number(level.usage), Self.pressure(used: used, of: level.limit) != nil
            else { return nil }
            let droppable = SystemText.read(level.details).flatMap { Self.value(of: level.droppable, in: $0) } ?? 0
            return Self.pressure(used: used - min(used, max(0, droppable)), of: level.limit)
        }.max()
    }

    /// Returns the step of a usage: from 80, 90 and 95 per cent of the limit on.
    static func pressure(used: Int, of limit: Int) -> MemoryPressure? {
        guard limit > 0 else { return nil }
        let share = Double(used) / Double(limit)
        return share >= 0.95 ? .critical : share >= 0.9 ? .high : share >= 0.8 ? .warning : nil
    }

    /// Returns the number after a name, in a text with one name and number a line.
    static func value(of name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == name { return Int(words[1]) }
        }
        return nil
    }
}
