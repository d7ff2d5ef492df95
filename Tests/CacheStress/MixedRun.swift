import Foundation
import HalcyonCache
import HalcyonSystem

/// Everything a program does with a disk cache, at random, beside others that do the same in the same folder. It owns
/// no key, so what it reads may be anybody's, but must be whole.
struct MixedRun {
    static let largest = 200_000

    private struct Figures {
        var operations = 0
        var hits = 0
        var bytes = 0
        var isSwept = false
    }

    let cache: DiskCache
    /// So many that all of them together, 18 KB each on average, are over the limit.
    let keys: Int
    let seed: Int
    let milliseconds: Int
    let bytesPerSecond: Int
    private let figures = Lock(Figures())

    /// - Parameters:
    ///   - start: the moment, in milliseconds since 1970, from which the cache's clock runs at another speed: the same
    ///     for all processes that share the folder.
    ///   - speed: how many times as fast as the true one.
    init(
        folder: URL, seed: Int, sizeLimit: Int, milliseconds: Int, bytesPerSecond: Int, start: Int, speed: Int
    ) {
        let start = Date(timeIntervalSince1970: TimeInterval(start) / 1000)
        let timeSource = TimeSource { start + Date().timeIntervalSince(start) * TimeInterval(speed) }
        cache = DiskCache(
            folder: folder, configuration: .init(sizeLimit: sizeLimit, stagingLimit: 1 << 20), timeSource: timeSource)
        keys = max(1, sizeLimit / 8000)
        self.seed = seed
        self.milliseconds = milliseconds
        self.bytesPerSecond = bytesPerSecond
    }

    func run() async {
        let start = ContinuousClock.now
        await withTaskGroup { group in
            for worker in 0..<2 { group.addTask { await work(worker, since: start) } }
        }
        await cache.flush()
        let statistics = cache.statistics
        if statistics.failedWrites > 0 {
            StressReport.wrong(
                "\(statistics.failedWrites) writes failed, \(String(describing: statistics.lastWriteError))"
            )
            .send()
        }
        if statistics.damaged > 0 { StressReport.wrong("\(statistics.damaged) files damaged").send() }
        let end = figures.withLock { $0 }
        StressReport.finished([end.operations, end.hits, end.bytes]).send()
    }

    private func work(_ worker: Int, since start: ContinuousClock.Instant) async {
        var random = StressRandom(state: UInt64(seed) &* 977 &+ UInt64(worker))
        var number = 0
        while true {
            let elapsed = start.duration(to: .now) / .milliseconds(1)
            guard elapsed < Double(milliseconds) else { return }
            // Writes no faster than the configured rate, so that the parent knows how much the folder may hold.
            let isAhead = Double(figures.withLock { $0.bytes }) > elapsed / 1000 * Double(bytesPerSecond)
            number += 1
            let key = Int(random.next() % UInt64(keys))
            let version = (seed << 40 | number << 1 | worker)
            let choice = random.next() % 64
            switch choice {
            case 0: await sweep(elapsed)
            case 1...4: await cache.remove(StressContent.key(key))
            case 5...9: await update(key, number)
            case 10...15: _ = await cache.contains(StressContent.key(key))
            case 16...23: await read(key)
            default:
                if isAhead {
                    await read(key)
                    usleep(500)
                } else {
                    await write(key, version, isStaged: choice % 2 == 0)
                }
            }
            figures.withLock { $0.operations += 1 }
        }
    }

    private func write(_ key: Int, _ version: Int, isStaged: Bool) async {
        let content = StressContent(key: key, version: version, largest: Self.largest)
        figures.withLock { $0.bytes += content.data.count + 300 }
        let diskKey = StressContent.key(key)
        do {
            if isStaged {
                await cache.stage(content.data, metadata: content.metadata, extended: content.extended, for: diskKey)
            } else {
                try await cache.store(
                    content.data, metadata: content.metadata, extended: content.extended, for: diskKey)
            }
        } catch {
            StressReport.wrong("store of \(key): \(error)").send()
        }
    }

    private func update(_ key: Int, _ number: Int) async {
        do {
            let metadata = StressContent.metadata(key: key, number: number)
            _ = try await cache.updateMetadata(metadata, for: StressContent.key(key))
        } catch {
            StressReport.wrong("update of \(key): \(error)").send()
        }
    }

    private func read(_ key: Int) async {
        guard let entry = await cache.entry(for: StressContent.key(key)) else { return }
        figures.withLock { $0.hits += 1 }
        if StressContent.version(of: entry, key: key, largest: Self.largest, updates: true) == nil {
            StressReport.wrong("bytes of \(key)").send()
        }
    }

    /// Sweeps once, and late: a sweep tells the cache of the other processes' writes, which it is to detect by itself.
    private func sweep(_ elapsed: Double) async {
        let isDue = figures.withLock { figures in
            guard !figures.isSwept, elapsed > Double(milliseconds) * 0.75 else { return false }
            figures.isSwept = true
            return true
        }
        if isDue { await cache.removeExpired() } else { await cache.flush() }
    }
}
