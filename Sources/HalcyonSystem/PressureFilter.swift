/// Lets a step through when it rises, or when the last one was some time ago: a system that stays short of memory says
/// so many times a second.
struct PressureFilter: Sendable {
    /// Seconds.
    let repeatAfter: Double
    private var last: (step: MemoryPressure, time: Double)?

    init(repeatAfter: Double) {
        self.repeatAfter = repeatAfter
    }

    /// - Parameter time: seconds of a clock that is never turned back.
    mutating func admits(_ step: MemoryPressure, at time: Double) -> Bool {
        if let last, step <= last.step, time - last.time < repeatAfter { return false }
        last = (step, time)
        return true
    }
}
