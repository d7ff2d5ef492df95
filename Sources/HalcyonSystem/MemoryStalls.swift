/// The time that programs have waited for memory, as the kernel counts it (PSI).
struct MemoryStalls: Sendable, Equatable {
    /// Microseconds in which some waited, and in which all did.
    var some: Int
    var full: Int

    /// What the kernel is asked to report, within any two seconds: windows of whole multiples of two seconds are open to
    /// every user.
    static let triggers: [(step: MemoryPressure, text: String)] = [
        (.warning, "some 140000 2000000"), (.high, "some 200000 2000000"), (.critical, "full 200000 2000000"),
    ]

    /// Of the text of /proc/pressure/memory or a group's memory.pressure; nil for any other.
    init?(_ text: String) {
        var totals: [Substring: Int] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let kind = words.first,
                let total = words.last(where: { $0.hasPrefix("total=") }).flatMap({ Int($0.dropFirst(6)) }), total >= 0
            else { continue }
            totals[kind] = total
        }
        guard let some = totals["some"] else { return nil }
        (self.some, full) = (some, totals["full"] ?? 0)
    }

    /// The step of the waiting since `earlier`, by the shares that the triggers have.
    func pressure(since earlier: MemoryStalls, seconds: Double) -> MemoryPressure? {
        guard seconds > 0 else { return nil }
        let some = Double(some) - Double(earlier.some)
        let full = Double(full) - Double(earlier.full)
        let time = seconds * 1e6
        return full >= time * 0.1 ? .critical : some >= time * 0.1 ? .high : some >= time * 0.07 ? .warning : nil
    }
}
