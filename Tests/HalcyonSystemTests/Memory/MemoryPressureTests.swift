import Foundation
@testable import HalcyonSystem
import Testing

/// Pressure read from trees of files that look like a system's.
@Suite(.timeLimit(.minutes(5))) struct MemoryPressureTests {
    /// A folder that stands for a system's root.
    private final class Tree: Sendable {
        let root = FileManager.default.temporaryDirectory.appending(path: "halcyon-test-\(UUID().uuidString)")
        var path: String { root.path(percentEncoded: false) }

        init(_ files: [String: String]) throws {
            for (name, text) in files { try write(text, to: name) }
        }

        deinit { try? FileManager.default.removeItem(at: root) }

        func write(_ text: String, to name: String) throws {
            let file = root.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file, options: .atomic)
        }
    }

    private static let version2 = [
        "proc/self/cgroup": "0::/a/b\n",
        "proc/self/mountinfo": "31 23 0:28 / /groups rw - cgroup2 cgroup2 rw\n",
        "groups/a/b/memory.max": "1000000\n", "groups/a/b/memory.current": "100000\n",
        "groups/a/b/memory.stat": "anon 5\ninactive_file 0\nactive_file 7\n",
        "groups/a/memory.max": "max\n", "groups/a/memory.current": "100000\n",
    ]
    private static let version1 = [
        "proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n",
        "proc/self/mountinfo":
            "31 23 0:28 / /g rw shared:1 - tmpfs tmpfs rw\n35 31 0:32 /a /g/my\\040memory rw - cgroup cgroup rw,cpu,memory\n",
        "g/my memory/b/memory.limit_in_bytes": "1000000\n", "g/my memory/b/memory.usage_in_bytes": "100000\n",
        "g/my memory/b/memory.stat": "inactive_file 5\ntotal_inactive_file 0\n",
        "g/my memory/memory.limit_in_bytes": "9223372036854771712\n",
    ]

    private func pressure(_ tree: [String: String], _ changes: [String: String] = [:]) throws -> MemoryPressure? {
        let tree = try Tree(tree.merging(changes) { $1 })
        return MemoryGauge(ControlGroups(root: tree.path)).pressure()
    }

    @Test func stepsAreOrdered() {
        #expect(MemoryPressure.allCases == [.warning, .high, .critical])
        #expect(MemoryPressure.warning < .high && .high < MemoryPressure.critical)
    }

    // MARK: Limits

    @Test(
        arguments: [
            (0, nil), (799_999, nil), (800_000, .warning), (899_999, .warning), (900_000, .high), (949_999, .high),
            (950_000, .critical), (5_000_000, .critical), (-5, nil),
        ] as [(Int, MemoryPressure?)])
    func pressureStepFollowsMemoryUsage(used: Int, step: MemoryPressure?) throws {
        #expect(try pressure(Self.version2, ["groups/a/b/memory.current": "\(used)\n"]) == step)
        #expect(try pressure(Self.version1, ["g/my memory/b/memory.usage_in_bytes": "\(used)\n"]) == step)
        // An ancestor's limit, of version 2, counts as well.
        #expect(
            try pressure(Self.version2, ["groups/a/memory.max": "1000000", "groups/a/memory.current": "\(used)"])
                == step)
    }

    @Test func reclaimableMemoryDoesNotCount() throws {
        let full = ["groups/a/b/memory.current": "990000\n"]
        #expect(try pressure(Self.version2, full) == .critical)
        for (stat, step) in [
            ("inactive_file 60000", MemoryPressure.high), ("active_file 60000", .critical),
            ("x\ninactive_file 150000\n", .warning), ("inactive_file 190001", nil), ("inactive_file 99999999", nil),
            ("inactive_file -5", .critical), ("inactive_file banana", .critical), ("", .critical),
        ] {
            #expect(try pressure(Self.version2, full.merging(["groups/a/b/memory.stat": stat]) { $1 }) == step)
        }
        let stat = [
            "g/my memory/b/memory.usage_in_bytes": "990000", "g/my memory/b/memory.stat": "total_inactive_file 500000",
        ]
        #expect(try pressure(Self.version1, stat) == nil)
    }

    @Test(arguments: ["", "max", "banana", "-1", "0", "1 2", "99999999999999999999999", "9223372036854771712"])
    func garbageIsNoLimit(text: String) throws {
        #expect(try pressure(Self.version2, ["groups/a/b/memory.max": text]) == nil)
        #expect(try pressure(Self.version1, ["g/my memory/b/memory.limit_in_bytes": text]) == nil)
        #expect(!MemoryGauge(ControlGroups(root: try Tree([:]).path)).hasLimits)
    }

    @Test func groupsAreFoundWhereTheyAreMounted() {
        let text = """
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
            35 31 0:32 /docker/x /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup cgroup rw,memory
            41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw,relatime - cgroup2 cgroup2 rw
            """
        #expect(
            ControlGroups.mounts(in: text) == [
                .init(point: "/sys/fs/cgroup/memory", root: "/docker/x", controllers: ["rw", "memory"]),
                .init(point: "/sys/fs/cgroup/uni fied", root: "/", controllers: [""]),
            ])
        for garbage in ["", "-", "- - - - - - - -", "1 2 3 4 5 6 - cgroup2", "a b c d e f g h i j", "\u{0}"] {
            #expect(ControlGroups.mounts(in: garbage).isEmpty)
        }
        #expect(ControlGroups.ancestors(of: "/a/b") == ["/a/b", "/a", ""])
        #expect(ControlGroups.ancestors(of: "/../../..") == [""])
        #expect(ControlGroups.path("/a/b", below: "/a") == "/b")
        #expect(ControlGroups.path("/ab", below: "/a") == nil)
        #expect(ControlGroups.path("/a", below: "/a") == "")
        #expect(ControlGroups.path(of: "memory", in: "4:cpu,memory:/x:y\n0::/z") == "/x:y")
        #expect(ControlGroups.path(of: "", in: "4:cpu,memory:/x:y\n0::/z") == "/z")
        #expect(ControlGroups.path(of: "memory", in: "banana\n::\nmemory:memory") == nil)
    }

    // MARK: Stalls

    @Test func stallsAreCounted() throws {
        let text =
            "some avg10=0.12 avg60=0.00 avg300=0.00 total=5431\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1318\n"
        let start = try #require(MemoryStalls(text))
        #expect(start.some == 5431 && start.full == 1318)
        for garbage in [
            "", "some", "some total=", "some total=-5", "full total=5", "some total=9999999999999999999999",
        ] {
            #expect(MemoryStalls(garbage) == nil)
        }
        func step(_ some: Int, _ full: Int, in seconds: Double = 2) throws -> MemoryPressure? {
            try #require(MemoryStalls("some total=\(5431 + some)\nfull total=\(1318 + full)"))
                .pressure(since: start, seconds: seconds)
        }
        #expect(try step(139_999, 0) == nil)
        #expect(try step(140_000, 0) == .warning)
        #expect(try step(200_000, 199_999) == .high)
        #expect(try step(200_000, 200_000) == .critical)
        #expect(try step(200_000, 200_000, in: 10) == nil)
        #expect(try step(200_000, 200_000, in: 0) == nil)
        #expect(try step(-5, -5) == nil)
        #expect(try #require(MemoryStalls("some total=\(Int.max)")).pressure(since: start, seconds: 2) == .high)
    }

    @Test func aStepIsToldAgainWhenItRisesOrLater() {
        var filter = PressureFilter(repeatAfter: 10)
        let steps: [(MemoryPressure, Double)] = [
            (.warning, 0), (.warning, 9.9), (.critical, 9.9), (.warning, 11), (.critical, 19.8), (.high, 20),
            (.critical, 20),
        ]
        let admitted = steps.map { filter.admits($0, at: $1) }
        #expect(admitted == [true, false, true, false, false, true, true])
    }

    // MARK: The thread

    @Test func subscribersSeeTheSteps() async throws {
        let tree = try Tree(Self.version2)
        let ended = Gate()
        let source = SystemMemoryPressure(
            root: tree.path, interval: .milliseconds(5), repeatAfter: .seconds(100_000), onEnd: { ended.open() })
        let (steps, continuation) = AsyncStream.makeStream(of: MemoryPressure.self)
        let (others, other) = AsyncStream.makeStream(of: MemoryPressure.self)
        let subscription = source.subscribe { continuation.yield($0) }
        var seen = steps.makeAsyncIterator()
        for (used, step) in [(800_000, MemoryPressure.warning), (900_000, .high)] {
            try tree.write("\(used)", to: "groups/a/b/memory.current")
            #expect(await seen.next() == step)
        }
        let second = source.subscribe { other.yield($0) }
        subscription.cancel()
        try tree.write("990000", to: "groups/a/b/memory.current")
        var seenByOther = others.makeAsyncIterator()
        #expect(await seenByOther.next() == .critical)
        second.cancel()
        await ended.opened()
        continuation.finish()
        #expect(await seen.next() == nil)
    }

    @Test func pressureIsPolledWithoutNotifications() async throws {
        let tree = try Tree(["proc/pressure/memory": "some total=0\nfull total=0\n"])
        let source = SystemMemoryPressure(root: tree.path, interval: .milliseconds(5), repeatAfter: .seconds(100_000))
        let (steps, continuation) = AsyncStream.makeStream(of: MemoryPressure.self)
        let subscription = source.subscribe { continuation.yield($0) }
        var seen = steps.makeAsyncIterator()
        // Counts that jump by an hour each time, so that whatever two of them the thread compares it finds a stall.
        let writer = Task {
            var hours = 0
            while !Task.isCancelled {
                hours += 1
                let total = hours * 3_600_000_000
                try tree.write("some total=\(total)\nfull total=\(total)\n", to: "proc/pressure/memory")
                await Task.yield()
            }
        }
        #expect(await seen.next() == .critical)
        writer.cancel()
        _ = await writer.result
        subscription.cancel()
    }

    @Test func triggersAreOpenedLate() throws {
        var probe = PressureProbe(root: "", wake: -1, interval: .seconds(1), repeatAfter: .seconds(1))
        defer { probe.close() }
        var isWoken = probe.openDueTriggers(at: 1e9)
        #expect(!isWoken)
        // Ten seconds later, whether or not the kernel grants any here.
        #expect(PressureProbe.triggerDelay == 10)
        probe.begin(at: 100)
        isWoken = probe.openDueTriggers(at: 109.9)
        #expect(!isWoken)
        // Where the kernel grants none, there are none later either.
        let granted = PressureProbe.openTriggers("/proc/pressure/memory")
        for trigger in granted { close(trigger.file) }
        isWoken = probe.openDueTriggers(at: 110)
        #expect(isWoken == !granted.isEmpty)
    }

    @Test func theThreadEndsWithTheLastSubscriptionAndBeginsAnew() async throws {
        // The real system's files, triggers included, where there are any.
        for _ in 0..<3 {
            let ended = Gate()
            let source = SystemMemoryPressure(onEnd: { ended.open() })
            do {
                let first = source.subscribe { _ in }
                let second = source.subscribe { _ in }
                first.cancel()
                first.cancel()
                withExtendedLifetime(second) {}
            }
            // Letting the second go has ended it.
            await ended.opened()
            let again = Gate()
            let other = SystemMemoryPressure(root: "/nonexistent", onEnd: { again.open() })
            other.subscribe { _ in }.cancel()
            await again.opened()
        }
    }
}
