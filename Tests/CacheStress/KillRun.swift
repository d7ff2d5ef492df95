import Foundation
import HalcyonCache
import HalcyonSystem

/// Works in a folder until the process is killed: workers that own a part of the keys each, so that the parent
/// knows the order of what happened to any of them, and one that trims and sweeps.
struct KillRun {
    static let keys = 48
    static let workers = 3
    static let largest = 100_000

    let cache: DiskCache
    let seed: Int
    let operations: Int

    /// - Parameters:
    ///   - deadly: the kind of call of the file system in which the process ends itself; nil is none.
    ///   - call: which of them.
    ///   - isBefore: whether that call is not made any more, or half.
    ///   - microseconds: after how long a second thread ends it; 0 is never.
    init(
        folder: URL, seed: Int, sizeLimit: Int, operations: Int, deadly: FileOperation?, call: Int, isBefore: Bool,
        microseconds: Int
    ) {
        cache = DiskCache(
            folder: folder, configuration: .init(sizeLimit: sizeLimit, stagingLimit: 300_000),
            fileSystem: KillingFileSystem(deadly: deadly, last: call, isBefore: isBefore))
        self.seed = seed
        self.operations = operations
        guard microseconds > 0 else { return }
        WorkerThread.start(name: "stress-kill") {
            usleep(UInt32(microseconds))
            kill(getpid(), SIGKILL)
        }
    }

    func run() async {
        await withTaskGroup { group in
            for worker in 0..<Self.workers { group.addTask { await work(worker) } }
            group.addTask { await maintain() }
        }
        await cache.flush()
        StressReport.finished([]).send()
    }

    private func work(_ worker: Int) async {
        var random = StressRandom(state: UInt64(seed) &* 31 &+ UInt64(worker))
        for operation in 1...operations {
            let key = Int(random.next() % UInt64(Self.keys / Self.workers)) * Self.workers + worker
            let version = seed << 20 | operation << 2 | worker
            switch random.next() % 16 {
            case 0...5: await stage(key, version)
            case 6...8: store(key, version)
            case 9: await remove(key)
            case 10...11:
                await cache.flush()
                StressReport.flushed(worker: worker).send()
            default: await read(key)
            }
        }
    }

    private func stage(_ key: Int, _ version: Int) async {
        let content = StressContent(key: key, version: version, largest: Self.largest)
        StressReport.begun(key: key, version: version).send()
        await cache.stage(
            content.data, metadata: content.metadata, extended: content.extended, for: StressContent.key(key))
    }

    private func store(_ key: Int, _ version: Int) {
        let content = StressContent(key: key, version: version, largest: Self.largest)
        StressReport.begun(key: key, version: version).send()
        do {
            try cache.storeSynchronously(
                content.data, metadata: content.metadata, extended: content.extended, for: StressContent.key(key))
            StressReport.done(key: key).send()
        } catch {
            StressReport.wrong("store of \(key): \(error)").send()
        }
    }

    private func remove(_ key: Int) async {
        StressReport.removing(key: key).send()
        await cache.remove(StressContent.key(key))
        StressReport.done(key: key).send()
    }

    private func read(_ key: Int) async {
        guard let entry = await cache.entry(for: StressContent.key(key)) else { return }
        if StressContent.version(of: entry, key: key, largest: Self.largest) == nil {
            StressReport.wrong("bytes of \(key)").send()
        }
    }

    private func maintain() async {
        for turn in 0..<operations / 8 {
            if turn % 2 == 0 { await cache.trim(to: cache.sizeLimit / 2) } else { await cache.removeExpired() }
        }
    }
}
