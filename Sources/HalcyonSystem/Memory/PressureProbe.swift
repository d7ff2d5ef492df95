import Glibc

/// The files and timers that the watching thread reads and sleeps on. It belongs to that thread alone.
struct PressureProbe {
    private let root: String
    private let wake: Int32
    /// The seconds between two readings.
    private let interval: Double
    private var filter: PressureFilter
    private var triggers: [(file: Int32, step: MemoryPressure)] = []
    /// The files to open triggers on, and the time for it.
    private var due: (files: [String], time: Double)?
    /// Nil until the first reading, one interval after the start: a program that ends before that pays for nothing.
    private var gauge: MemoryGauge?
    /// The file in which the kernel counts stalls; nil without PSI.
    private var stallFile: String?
    private var stalls: (counts: MemoryStalls, time: Double)?
    private var gaugeTime = 0.0
    /// The seconds after which the groups and their limits are looked up anew.
    private static let gaugeLife = 30.0
    /// The seconds after the first reading until triggers are opened, during which the counters are read. The kernel lets a
    /// process that has triggers end only after a grace period of its own, 10 to 20 ms for each: most programs that are
    /// shorter than this have nothing to free.
    static let triggerDelay = 10.0

    /// - Parameter wake: a descriptor whose other end, when closed, wakes and ends the thread.
    init(root: String, wake: Int32, interval: Duration, repeatAfter: Duration) {
        self.root = root
        self.wake = wake
        self.interval = max(0.001, interval.inSeconds)
        filter = PressureFilter(repeatAfter: repeatAfter.inSeconds)
    }

    /// Finds the files to read.
    mutating func begin(at now: Double) {
        let groups = ControlGroups(root: root)
        gauge = MemoryGauge(groups)
        gaugeTime = now
        // The file of the process's own group reflects that group's limit; that of the machine is the next best.
        let own = groups.folders(controller: "").first.map { $0 + "/memory.pressure" }
        let files = [own, root + "/proc/pressure/memory"].compactMap { $0 }
        stallFile = files.first { SystemText.read($0).flatMap { MemoryStalls($0) } != nil }
        // Under another root these are plain files, which writing a trigger would only damage.
        if root.isEmpty { due = (files, now + Self.triggerDelay) }
    }

    /// Opens the triggers if it is time.
    ///
    /// - Returns: whether the kernel wakes the thread now.
    mutating func openDueTriggers(at now: Double) -> Bool {
        if let due, now >= due.time {
            for file in due.files where triggers.isEmpty { triggers = Self.openTriggers(file) }
            self.due = nil
        }
        return !triggers.isEmpty
    }

    func close() {
        for trigger in triggers { Glibc.close(trigger.file) }
        Glibc.close(wake)
    }

    /// Sleeps until there is a step to report; returns nil when the other end of `wake` has been closed.
    mutating func next() -> MemoryPressure? {
        while true {
            var files = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
            files += triggers.map { pollfd(fd: $0.file, events: Int16(POLLPRI), revents: 0) }
            let looks = gauge?.hasLimits ?? true || (triggers.isEmpty && stallFile != nil)
            let pause = looks ? min(interval, Self.gaugeLife) : Self.gaugeLife
            let count = poll(&files, nfds_t(files.count), Int32(pause * 1000))
            guard count >= 0 || errno == EINTR || errno == EAGAIN || errno == ENOMEM else { return nil }
            guard count <= 0 || files[0].revents == 0 else { return nil }
            let now = Self.now()
            if gauge == nil { begin(at: now) }
            _ = openDueTriggers(at: now)
            let steps = [count > 0 ? triggered(files.dropFirst()) : nil, gauged(at: now), stalled(at: now)]
            if let step = steps.compactMap({ $0 }).max(), filter.admits(step, at: now) { return step }
        }
    }

    /// Returns the highest step that a trigger has reported. Closes triggers that have failed, for example because their group
    /// was removed.
    private mutating func triggered(_ files: ArraySlice<pollfd>) -> MemoryPressure? {
        var highest: MemoryPressure?
        var kept: [(file: Int32, step: MemoryPressure)] = []
        for (trigger, file) in zip(triggers, files) {
            if Int32(file.revents) & (POLLERR | POLLNVAL | POLLHUP) != 0 {
                Glibc.close(trigger.file)
                continue
            }
            if Int32(file.revents) & POLLPRI != 0 { highest = max(highest ?? trigger.step, trigger.step) }
            kept.append(trigger)
        }
        triggers = kept
        return highest
    }

    private mutating func gauged(at now: Double) -> MemoryPressure? {
        if now - gaugeTime >= Self.gaugeLife {
            gauge = MemoryGauge(ControlGroups(root: root))
            gaugeTime = now
        }
        return gauge?.pressure()
    }

    /// Returns the step of the counted stalls, if no trigger wakes the thread.
    private mutating func stalled(at now: Double) -> MemoryPressure? {
        guard triggers.isEmpty, let stallFile, let counts = SystemText.read(stallFile).flatMap({ MemoryStalls($0) })
        else { return nil }
        guard let before = stalls else {
            stalls = (counts, now)
            return nil
        }
        // Two intervals, which with the default are as long as the windows of the triggers.
        guard now - before.time >= interval * 2 else { return nil }
        stalls = (counts, now)
        return counts.pressure(since: before.counts, seconds: now - before.time)
    }

    /// Returns the triggers that the kernel grants; none if it has no PSI or does not permit them.
    static func openTriggers(_ path: String) -> [(file: Int32, step: MemoryPressure)] {
        MemoryStalls.triggers.compactMap { step, text in
            let file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { return nil }
            // The kernel requires the terminating zero, too.
            let bytes = Array(text.utf8) + [0]
            guard write(file, bytes, bytes.count) == bytes.count else {
                Glibc.close(file)
                return nil
            }
            return (file, step)
        }
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// The time that programs have waited for memory, as the kernel counts it (PSI).
struct MemoryStalls: Sendable, Equatable {
    /// The microseconds in which some programs waited, and in which all did.
    var some: Int
    var full: Int

    /// The triggers that the kernel is asked to report, within any two seconds: windows of whole multiples of two seconds are
    /// available to every user.
    static let triggers: [(step: MemoryPressure, text: String)] = [
        (.warning, "some 140000 2000000"), (.high, "some 200000 2000000"), (.critical, "full 200000 2000000"),
    ]

    /// Parses the text of /proc/pressure/memory or a group's memory.pressure; nil for any other text.
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

    /// Returns the step of the waiting time since `earlier`, by the same shares as the triggers.
    func pressure(since earlier: MemoryStalls, seconds: Double) -> MemoryPressure? {
        guard seconds > 0 else { return nil }
        let some = Double(some) - Double(earlier.some)
        let full = Double(full) - Double(earlier.full)
        let time = seconds * 1e6
        return full >= time * 0.1 ? .critical : some >= time * 0.1 ? .high : some >= time * 0.07 ? .warning : nil
    }
}
