import Foundation
import HalcyonSystem
import TestSupport

@testable import CacheStress
@testable import HalcyonCache

/// One thread of a run, with an exact record of the content of its own keys. All of it blocks.
struct ModelWorker {
    /// The content of one of the thread's own keys.
    private struct Value {
        var version: Int
        /// The number in its metadata.
        var metadata: Int
        /// The bounds of the entry's expiration, as exact as possible while others turn the clock; nil is never.
        var kept: (earliest: Date, latest: Date)?
    }

    private enum Expected { case present, absent, either }

    static let ownKeys = 12

    let run: ModelRun
    let number: Int
    private var random: SplitMix
    private var values: [Int: Value] = [:]
    private var lastVersion = 0

    init(_ run: ModelRun, number: Int) {
        self.run = run
        self.number = number
        random = SplitMix(state: UInt64(number) &+ 4711)
    }

    private var cache: DiskCache { run.cache }

    mutating func work(operations: Int) {
        for _ in 0..<operations {
            do {
                if roll(40) == 0 { try maintain() } else if roll(10) < 3 { try shareOne() } else { try ownOne() }
            } catch {
                run.report("thread \(number): \(error)")
            }
        }
    }

    private mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }

    private mutating func newVersion() -> Int {
        lastVersion += 1
        return lastVersion << 4 | number
    }

    /// Performs an operation that must change nothing.
    private mutating func maintain() throws {
        let cache = cache
        switch roll(6) {
        case 0: _ = try ModelRun.blocking { await cache.trim(to: 1 << 28) }
        case 1: _ = try ModelRun.blocking { await cache.removeExpired() }
        case 2: _ = try ModelRun.blocking { await cache.size() }
        case 3: try ModelRun.blocking { await cache.flush() }
        default: run.fixture.clock.advance(by: .milliseconds(roll(4000)))
        }
    }

    // MARK: Own keys

    private mutating func ownOne() throws {
        let key = number * 1000 + roll(Self.ownKeys)
        switch roll(16) {
        case 0...5: try write(key)
        case 6...7:
            let (cache, isAsync) = (cache, roll(2) == 0)
            if isAsync {
                try ModelRun.blocking { await cache.remove(StressContent.key(key)) }
            } else {
                cache.removeSynchronously(StressContent.key(key))
            }
            values[key] = nil
        case 8...9: try update(key)
        case 10: try askFor(key)
        default: try read(key)
        }
    }

    private mutating func expiration() -> (expiration: StorageExpiration, seconds: Int?) {
        guard roll(4) == 0 else { return (.never, nil) }
        let seconds = 1 + roll(40)
        return (.seconds(TimeInterval(seconds)), seconds)
    }

    private func kept(_ seconds: Int?, since start: Date) -> (earliest: Date, latest: Date)? {
        // A little more: files keep time in other units.
        seconds.map { (start + TimeInterval($0) - 0.001, run.now + TimeInterval($0) + 0.001) }
    }

    private mutating func write(_ key: Int) throws {
        let (version, start) = (newVersion(), run.now)
        let (expiration, seconds) = expiration()
        let isStaged = try put(StressContent(key: key, version: version, largest: ModelRun.largest), key, expiration)
        guard isStaged else { return }
        values[key] = Value(version: version, metadata: version, kept: kept(seconds, since: start))
    }

    /// By one of the four ways. Only the one that does not wait may find no room.
    private mutating func put(_ content: StressContent, _ key: Int, _ expiration: StorageExpiration) throws -> Bool {
        try put(content, key, expiration, way: roll(4))
    }

    private func put(_ content: StressContent, _ key: Int, _ expiration: StorageExpiration, way: Int) throws -> Bool {
        let (cache, diskKey) = (cache, StressContent.key(key))
        let (data, metadata, extended) = (content.data, content.metadata, content.extended)
        switch way {
        case 0:
            return cache.stageIfRoom(
                data, metadata: metadata, extended: extended, for: diskKey, expiration: expiration)
        case 1:
            try cache.storeSynchronously(
                data, metadata: metadata, extended: extended, for: diskKey, expiration: expiration)
        case 2:
            try ModelRun.blocking {
                try await cache.store(
                    data, metadata: metadata, extended: extended, for: diskKey, expiration: expiration)
            }
        default:
            let isStaged = try ModelRun.blocking {
                await cache.stage(data, metadata: metadata, extended: extended, for: diskKey, expiration: expiration)
            }
            if !isStaged { run.report("key \(key): not staged") }
        }
        return true
    }

    private mutating func update(_ key: Int) throws {
        let (cache, start, metadata) = (cache, run.now, newVersion())
        let renewal = roll(2) == 0 ? expiration() : nil
        let isUpdated = try ModelRun.blocking {
            try await cache.updateMetadata(
                StressContent.metadata(key: key, number: metadata), for: StressContent.key(key),
                expiration: renewal?.expiration)
        }
        check(key, isUpdated, since: start, "update")
        guard isUpdated else {
            values[key] = nil
            return
        }
        values[key]?.metadata = metadata
        guard let renewal else { return }
        let kept = kept(renewal.seconds, since: start)
        values[key]?.kept = kept
    }

    private mutating func askFor(_ key: Int) throws {
        let (cache, start, isAsync) = (cache, run.now, roll(2) == 0)
        let isThere =
            isAsync
            ? try ModelRun.blocking { await cache.contains(StressContent.key(key)) }
            : cache.containsSynchronously(StressContent.key(key))
        check(key, isThere, since: start, "contains")
    }

    private mutating func read(_ key: Int) throws {
        let (cache, start, isAsync) = (cache, run.now, roll(2) == 0)
        let entry =
            isAsync
            ? try ModelRun.blocking { await cache.entry(for: StressContent.key(key)) }
            : cache.entrySynchronously(for: StressContent.key(key))
        check(key, entry, since: start)
    }

    private func check(_ key: Int, _ entry: CacheEntry?, since start: Date) {
        check(key, entry != nil, since: start, "read")
        guard let entry, let value = values[key] else { return }
        let version = StressContent.version(of: entry, key: key, largest: ModelRun.largest, updates: true)
        if version != value.version { run.report("key \(key): version \(version ?? -1), not \(value.version)") }
        if entry.metadata != StressContent.metadata(key: key, number: value.metadata) {
            run.report("key \(key): other metadata than \(value.metadata)")
        }
    }

    private func check(_ key: Int, _ isThere: Bool, since start: Date, _ what: String) {
        switch expected(key, since: start) {
        case .present where !isThere:
            run.report("key \(key): \(what) finds nothing of \(String(describing: values[key]))")
        case .absent where isThere: run.report("key \(key): \(what) finds what should not be there")
        default: break
        }
    }

    /// Returns the result that a call which began at this moment and is over now must have had.
    private func expected(_ key: Int, since start: Date) -> Expected {
        guard let value = values[key] else { return .absent }
        guard let kept = value.kept else { return .present }
        if run.now < kept.earliest { return .present }
        return start >= kept.latest ? .absent : .either
    }

    /// Everything on the disk, once all is over, by another cache on the same folder.
    func checkAll(_ other: DiskCache) {
        for key in number * 1000..<number * 1000 + Self.ownKeys {
            check(key, other.entrySynchronously(for: StressContent.key(key)), since: run.now)
        }
    }

    // MARK: Shared keys

    private mutating func shareOne() throws {
        let key = roll(ModelRun.sharedKeys)
        let number = ModelRun.number(ofShared: key)
        let (cache, diskKey) = (cache, StressContent.key(number))
        switch roll(8) {
        case 0...2:
            let version = newVersion()
            let content = StressContent(key: number, version: version, largest: ModelRun.largest)
            let way = roll(4)
            let how = "by thread \(self.number), \(["stageIfRoom", "storeSynchronously", "store", "stage"][way])"
            run.write(version, shared: key, how: how) { try put(content, number, .never, way: way) }
        case 3:
            run.write(0, shared: key, how: "by thread \(self.number)") {
                cache.removeSynchronously(diskKey)
                return true
            }
        case 4:
            let metadata = StressContent.metadata(key: number, number: newVersion())
            run.note("update by thread \(self.number)", shared: key)
            let isDone = try ModelRun.blocking { try await cache.updateMetadata(metadata, for: diskKey) }
            run.note("updated \(isDone) by thread \(self.number)", shared: key)
        case 5:
            run.read(shared: key, how: "async by thread \(self.number)") {
                try ModelRun.blocking { await cache.entry(for: diskKey) }
            }
        default: run.read(shared: key, how: "by thread \(self.number)") { cache.entrySynchronously(for: diskKey) }
        }
    }
}
