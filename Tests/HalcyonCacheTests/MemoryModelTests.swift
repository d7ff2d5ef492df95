import Foundation
@testable import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import Synchronization
import TestSupport
import Testing

/// Eight threads at once, each checked against what the cache may answer it.
@Suite(.timeLimit(.minutes(5))) struct MemoryModelTests {
    /// `HALCYON_SOAK` runs the full count.
    private static let operations = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 8_000 : 100_000
    private static let threads = 8
    private static let costLimit = 4000
    private static let countLimit = 120

    /// A value that identifies its key and how new it is.
    private final class Version: Sendable {
        let key: Int
        let number: Int
        init(_ key: Int, _ number: Int) { (self.key, self.number) = (key, number) }
    }

    /// A key that all threads write. They take turns, so that its versions are put in and removed in their order.
    private final class SharedKey: Sendable {
        private let last = Lock(0)
        /// The newest version that is in, or that a removal has made all older ones void of.
        private let done = Atomic<Int>(0)
        var least: Int { done.load(ordering: .sequentiallyConsistent) }

        func write(_ body: (Int) -> Void) {
            last.withLock { last in
                last += 1
                body(last)
                done.store(last, ordering: .sequentiallyConsistent)
            }
        }
    }

    /// The findings of all threads. The first complaints are kept: a failed expectation for each operation would hide what
    /// happened.
    private final class Record: Sendable {
        private let complaints = Lock<[String]>([])
        let reads = Atomic<Int>(0)
        let found = Atomic<Int>(0)
        let shared = (0..<12).map { _ in SharedKey() }
        var all: [String] { complaints.withLock { $0 } }

        func check(_ condition: Bool, _ text: @autoclosure () -> String) {
            guard !condition else { return }
            let text = text()
            complaints.withLock { if $0.count < 20 { $0.append(text) } }
        }
    }

    /// One thread's work. No other thread writes its own keys, so the possible results of a lookup are known exactly: the last
    /// value it put in, or nothing; and the last value for certain while it keeps it and nothing has taken it out.
    private struct Worker {
        let thread: Int
        let cache: MemoryCache<Int, Version>
        let record: Record
        let isWeak: Bool
        var random: SplitMix
        /// The newest versions of the thread's own keys that are in, or evicted.
        var numbers: [Int: Int] = [:]
        /// The versions among these that the thread keeps.
        var kept: [Int: Version] = [:]
        /// Shared versions that the thread keeps.
        var own: [Int: Version] = [:]
        var lastNumber = 0
        /// The newest version of a shared key that this thread has put in or found.
        var seen: [Int: Int] = [:]

        mutating func run(_ count: Int) {
            for step in 0..<count {
                if Int.random(in: 0..<4, using: &random) == 0 { useShared() } else { useOwn() }
                if step % 8 == 0 { observe() }
                if step % 256 == 255 { cache.relieve(step % 512 == 255 ? .warning : .high) }
                if step % 128 == 127 { cache.removeExpired() }
            }
        }

        private func value(_ key: Int) -> Version? {
            let value = cache.value(for: key)
            record.reads.add(1, ordering: .relaxed)
            if value != nil { record.found.add(1, ordering: .relaxed) }
            record.check(value == nil || value?.key == key, "\(key) gave another key's value")
            return value
        }

        private mutating func useOwn() {
            let key = 1000 * (thread + 1) + Int.random(in: 0..<40, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                lastNumber += 1
                let version = Version(key, lastNumber)
                let isIn = cache.insert(version, for: key, cost: Int.random(in: 0...100, using: &random))
                numbers[key] = isIn ? lastNumber : nil
                kept[key] = isIn && Bool.random(using: &random) ? version : nil
            case 4..<8:
                let found = value(key)
                record.check(
                    found == nil || found?.number == numbers[key],
                    "\(key) gave \(found?.number ?? 0) after \(numbers[key] ?? 0)")
                if isWeak, let kept = kept[key] {
                    record.check(found === kept, "\(key) was kept and not found")
                }
            case 8:
                let removed = cache.remove(key)
                record.check(removed == nil || removed?.number == numbers[key], "\(key) removed another version")
                numbers[key] = nil
                kept[key] = nil
            default:
                let isIn = cache.contains(key)
                record.check(!isIn || numbers[key] != nil, "\(key) is said to be there")
                record.check(isIn || !isWeak || kept[key] == nil, "\(key) was kept and is said not to be there")
            }
        }

        /// A read may not find a version that is older than the newest that was in, or void, before it began, nor one
        /// older than this thread has found before.
        private mutating func useShared() {
            let key = Int.random(in: record.shared.indices, using: &random)
            let shared = record.shared[key]
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: shared.write { _ = cache.insert(Version(key, $0), for: key, cost: 20) }
            case 2: shared.write { _ in cache.remove(key) }
            default:
                let least = max(shared.least, seen[key] ?? 0)
                guard let found = value(key) else { return }
                record.check(found.number >= least, "shared \(key) gave \(found.number) after \(least)")
                seen[key] = found.number
                // Some are kept for a while, and so found in the weak level.
                if Bool.random(using: &random) { own[key] = found }
            }
        }

        private func observe() {
            let statistics = cache.statistics
            record.check(statistics.cost >= 0 && statistics.count >= 0, "less than nothing")
            record.check(
                statistics.cost <= MemoryModelTests.costLimit && statistics.count <= MemoryModelTests.countLimit,
                "over the limit: \(statistics)")
        }
    }

    @Test(arguments: [true, false], [1, 2, 16])
    func eightThreadsAgainstAModel(isWeak: Bool, shards: Int) async {
        let weakly: MemoryCache<Int, Version>.WeakReference = { version in WeakValue(version) { $0 } }
        let cache = MemoryCache<Int, Version>(
            configuration: MemoryCacheConfiguration(
                costLimit: Self.costLimit, countLimit: Self.countLimit, timeToLive: .seconds(300), sweepInterval: nil),
            timeSource: nil, shardCount: shards, weakly: isWeak ? weakly : nil)
        let record = Record()
        let pool = ThreadPool(name: "model", threads: Self.threads)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<Self.threads {
                group.addTask {
                    _ = try? await pool.run { _ in
                        var worker = Worker(
                            thread: thread, cache: cache, record: record, isWeak: isWeak,
                            random: SplitMix(state: UInt64(thread)))
                        worker.run(Self.operations / Self.threads)
                    }
                }
            }
        }
        #expect(record.all == [])
        let statistics = cache.statistics
        #expect(statistics.hits == record.found.load(ordering: .relaxed))
        #expect(statistics.hits + statistics.misses == record.reads.load(ordering: .relaxed))
        #expect(statistics.hits > 0 && statistics.misses > 0 && statistics.evictions > 0)
        #expect((statistics.weakHits > 0) == isWeak)
        #expect(statistics.cost <= Self.costLimit && statistics.count <= Self.countLimit)
        // Nothing is lost or counted twice.
        #expect(cache.contents == (statistics.cost, statistics.count))
    }
}
