import Foundation
@testable import HalcyonSystem
import Testing

/// Grants read from trees of files that look like a system's.
@Suite struct SystemGrantTests {
    private static let gibibyte = 1 << 30
    private static let machine = ["proc/meminfo": "MemTotal:       8388608 kB\nMemFree:  12 kB\n"]

    private func grant(_ files: [String: String], affinity: Int = 4) throws -> SystemGrant {
        let root = FileManager.default.temporaryDirectory.appending(path: "halcyon-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for (name, text) in files {
            let file = root.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return SystemGrant.read(root: root.path(percentEncoded: false), affinity: affinity)
    }

    private func version2(_ files: [String: String], group: String = "/a/b") -> [String: String] {
        var tree = Self.machine
        tree["proc/self/cgroup"] = "0::\(group)\n"
        for (name, text) in files { tree["sys/fs/cgroup/" + name] = text }
        return tree
    }

    private func version1(_ files: [String: String]) -> [String: String] {
        var tree = Self.machine
        tree["proc/self/cgroup"] = "12:pids:/x\n5:cpu,cpuacct:/a/b\n4:memory:/a/b\n1:name=systemd:/c\n"
        for (name, text) in files { tree["sys/fs/cgroup/" + name] = text }
        return tree
    }

    @Test func withoutLimitsTheMachineCounts() throws {
        #expect(try grant(Self.machine) == SystemGrant(cores: 4, memory: 8 * Self.gibibyte))
        #expect(try grant(version2([:])) == SystemGrant(cores: 4, memory: 8 * Self.gibibyte))
        #expect(try grant(version1([:])) == SystemGrant(cores: 4, memory: 8 * Self.gibibyte))
    }

    @Test func withoutAnythingThereIsAGuess() throws {
        #expect(try grant([:], affinity: 1) == SystemGrant(cores: 1, memory: Self.gibibyte))
    }

    private static let limits: [(files: [String: String], memory: Int)] = [
        (["a/b/memory.max": "1073741824\n"], 1 << 30),
        // The tightest of the nested limits binds, wherever it is.
        (["a/b/memory.max": "2147483648\n", "a/memory.max": "1073741824\n"], 1 << 30),
        (["a/b/memory.max": "1073741824\n", "a/memory.max": "2147483648\n"], 1 << 30),
        (["a/b/memory.max": "max\n", "a/memory.max": "2147483648\n"], 2 << 30),
        (["memory.max": "1073741824\n"], 1 << 30), (["a/b/memory.max": "max\n"], 8 << 30),
        // A limit above the machine's own has no effect.
        (["a/b/memory.max": "17179869184\n"], 8 << 30), (["a/c/memory.max": "1073741824\n"], 8 << 30),
    ]

    @Test(arguments: limits) func memoryOfVersion2(files: [String: String], memory: Int) throws {
        #expect(try grant(version2(files)).memory == memory)
    }

    @Test(arguments: [
        (["a/b/cpu.max": "150000 100000\n"], 8, 2), (["a/b/cpu.max": "150000 100000\n"], 1, 1),
        (["a/b/cpu.max": "200000 100000\n"], 8, 2), (["a/b/cpu.max": "5000 100000\n"], 8, 1),
        (["a/b/cpu.max": "max 100000\n"], 8, 8), (["a/b/cpu.max": "6400000 100000\n"], 8, 8),
        (["a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"], 8, 3),
        (["a/b/cpu.max": "400000 100000\n", "cpu.max": "100000 50000\n"], 8, 2),
    ])
    func coresOfVersion2(files: [String: String], affinity: Int, cores: Int) throws {
        #expect(try grant(version2(files), affinity: affinity).cores == cores)
    }

    @Test(arguments: [
        (["memory/a/b/memory.limit_in_bytes": "1073741824\n"], 1 << 30),
        (["memory/a/b/memory.limit_in_bytes": "9223372036854771712\n"], 8 << 30),
        (
            [
                "memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
                "memory/a/memory.limit_in_bytes": "2147483648\n",
            ], 2 << 30
        ),
        (["memory/memory.limit_in_bytes": "1073741824\n"], 1 << 30),
    ])
    func memoryOfVersion1(files: [String: String], memory: Int) throws {
        #expect(try grant(version1(files)).memory == memory)
    }

    @Test(arguments: [("150000", "100000", 2), ("-1", "100000", 8), ("100000", "100000", 1), ("50000", "10000", 5)])
    func coresOfVersion1(quota: String, period: String, cores: Int) throws {
        let files = ["cpu/a/b/cpu.cfs_quota_us": quota + "\n", "cpu/a/b/cpu.cfs_period_us": period + "\n"]
        #expect(try grant(version1(files), affinity: 8).cores == cores)
    }

    @Test(arguments: [
        "", "\n", "banana", "banana split", "-5 100000", "0 100000", "100000 0", "100000 -1", "nan nan", "inf 1",
        "1e300 1", "100000 100000 100000", "99999999999999999999999 1", "\u{0}\u{0}",
    ])
    func garbageIsNoQuota(text: String) throws {
        let files = [
            "a/b/cpu.max": text, "cpu/cpu.cfs_quota_us": text, "cpu/cpu.cfs_period_us": text,
            "a/b/memory.max": text + "x",
        ]
        #expect(try grant(version2(files), affinity: 8) == SystemGrant(cores: 8, memory: 8 * Self.gibibyte))
    }

    @Test(arguments: ["", "banana", "0", "-1", "1e9", "99999999999999999999999", "1 2"])
    func garbageIsNoMemoryLimit(text: String) throws {
        #expect(try grant(version2(["a/b/memory.max": text])).memory == 8 * Self.gibibyte)
    }

    private static let machines: [(text: String, memory: Int)] = [
        ("", 1 << 30), ("MemTotal:", 1 << 30), ("MemTotal: many kB", 1 << 30), ("MemTotal: -5 kB", 1 << 30),
        ("MemTotal: 0 kB", 1 << 30), ("MemTotal: 99999999999999999999999 kB", 1 << 30),
        ("MemTotal: 9223372036854775807 kB", Int.max), ("Other: 1 kB\nMemTotal: 2048 kB", 2 << 20),
    ]

    @Test(arguments: machines) func theMachinesMemoryIsReadWithCare(text: String, memory: Int) throws {
        #expect(try grant(["proc/meminfo": text]).memory == memory)
    }

    @Test(arguments: ["", "0", "0:", "0::", "::::", "0::nowhere", "0::/../../..", "no colon at all", "0::/a/b/\n\n"])
    func garbageIsNoGroup(text: String) throws {
        var files = version2(["memory.max": "1073741824"])
        files["proc/self/cgroup"] = text
        #expect(try grant(files) == SystemGrant(cores: 4, memory: Self.gibibyte))
    }

    @Test func affinityIsAtLeastOne() throws {
        #expect(try grant([:], affinity: 0).cores == 1)
    }

    @Test func thisProcessHasAGrant() {
        #expect(SystemGrant.current.cores >= 1)
        #expect(SystemGrant.current.memory > 1 << 20)
    }
}
