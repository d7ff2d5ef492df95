/// Memory pressure as the kernel tells it: the time that programs wait for memory (PSI), and how near this process's
/// control groups (version 1 or 2) are to their limits.
///
/// Where the kernel lets programs be woken at a stall, they are; else what it counts is looked at every second, and
/// without either only the limits are. One thread watches, for as long as anybody is subscribed. A step is told again
/// when it rises, or after ten seconds.
public final class SystemMemoryPressure: MemoryPressureSource {
    /// The one of this process.
    public static let shared = SystemMemoryPressure()

    private let watch: PressureWatch

    /// - Parameters:
    ///   - root: stands before the paths of /proc and /sys; with one, nothing is written there.
    ///   - interval: between two looks at what does not wake the thread.
    ///   - repeatAfter: how long a step that does not rise is not told again.
    ///   - onEnd: called each time the thread has ended.
    package init(
        root: String = "", interval: Duration = .seconds(1), repeatAfter: Duration = .seconds(10),
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        watch = PressureWatch(root: root, interval: interval, repeatAfter: repeatAfter, onEnd: onEnd)
    }

    public func subscribe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
        let id = watch.add(body)
        return MemoryPressureSubscription { [watch] in watch.remove(id) }
    }
}

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
