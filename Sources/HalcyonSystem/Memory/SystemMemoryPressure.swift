/// The memory pressure that the kernel reports: the time that programs wait for memory (PSI), and how near this process's
/// control groups (version 1 or 2) are to their limits.
///
/// The counters of stalls are read every second at first. After ten seconds the kernel wakes the thread instead, if it grants
/// triggers, which take a program that ends some time to release; without counters
/// only the limits are read. One thread watches, for as long as there are subscribers. A step is reported again when it rises, or
/// after ten seconds.
public final class SystemMemoryPressure: MemoryPressureSource {
    /// The shared instance of the process.
    public static let shared = SystemMemoryPressure()

    private let watch: PressureWatch

    /// - Parameters:
    ///   - root: a prefix of the paths of /proc and /sys; with one, nothing is written there.
    ///   - interval: the time between two readings of the sources that do not wake the thread.
    ///   - repeatAfter: the time for which a step that does not rise is not reported again.
    ///   - onEnd: called each time that the thread has ended.
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

/// A filter that admits a step when it rises, or when the last one was admitted some time ago: a system that stays short of
/// memory reports it many times a second.
struct PressureFilter: Sendable {
    /// The time in seconds after which a step is admitted again.
    let repeatAfter: Double
    private var last: (step: MemoryPressure, time: Double)?

    init(repeatAfter: Double) {
        self.repeatAfter = repeatAfter
    }

    /// - Parameter time: the seconds of a monotonic clock.
    mutating func admits(_ step: MemoryPressure, at time: Double) -> Bool {
        if let last, step <= last.step, time - last.time < repeatAfter { return false }
        last = (step, time)
        return true
    }
}
