import CFloors
import Foundation
import Halcyon
import HalcyonCache

/// Measures a disk cache of 100,000 small entries: its first hit, its size, a trim of half of them, and the readers'
/// latency during a trim.
///
/// Between two runs the removed entries are written again, which takes longer than all measurements: use few runs.
struct DiskManySuite: Suite {
    let names = ["disk-many"]
    private static let entries = 100_000
    private static let data = Data(count: 200)

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let folder = try scratch.makeFolder("disk-many")
        let cache = Self.cache(folder)
        let keys = (0..<Self.entries).map { CacheKey("https://images.example.org/photos/2026/\($0).jpg".utf8) }
        let path = folder.path(percentEncoded: false)
        let paths = CStrings(keys.map { "\(path)/\($0.folderName)/\($0.fileName)" })
        let folders = CStrings((0..<256).map { "\(path)/" + String(format: "%02x", $0) })
        try Self.fill(cache, keys)
        return [
            firstHit(folder, keys, paths), size(cache, folders), trim(cache, keys, paths),
            readers(cache, keys, paths),
        ]
    }

    private static func cache(_ folder: URL) -> DiskCache {
        DiskCache(folder: folder, configuration: DiskCache.Configuration(sizeLimit: 1 << 30, sweepInterval: nil))
    }

    /// Writes the missing entries.
    private static func fill(_ cache: DiskCache, _ keys: [CacheKey]) throws {
        for key in keys where !cache.containsSynchronously(key) { try cache.storeSynchronously(data, for: key) }
    }

    private func comparison(
        _ variant: String, _ unit: Comparison.Unit = .milliseconds,
        subject: @escaping @Sendable () async throws -> Sample, floor: @escaping @Sendable () async throws -> Sample
    ) -> Comparison {
        Comparison(
            name: "disk-many", variant: "100,000 entries, \(variant)", unit: unit, operations: 1, subject: subject,
            floor: floor)
    }

    private func firstHit(_ folder: URL, _ keys: [CacheKey], _ paths: CStrings) -> Comparison {
        comparison("first hit of a new cache; floor one read") {
            try await Sample.of {
                let cache = Self.cache(folder)
                guard await cache.entry(for: keys[Self.entries / 2]) != nil else { throw BenchmarkFailure("no hit") }
            }
        } floor: {
            Sample.of { _ = paths.withPointers { bench_read_files($0, 1) } }
        }
    }

    private func size(_ cache: DiskCache, _ folders: CStrings) -> Comparison {
        comparison("size(); floor readdir and fstatat") {
            var size = 0
            let sample = await Sample.of { size = await cache.size() }
            if size < Self.entries * Self.data.count { throw BenchmarkFailure("the size is \(size)") }
            return sample
        } floor: {
            Sample.of { _ = folders.withPointers { bench_size_of_folders($0, 256) } }
        }
    }

    private func trim(_ cache: DiskCache, _ keys: [CacheKey], _ paths: CStrings) -> Comparison {
        comparison("trim(to:) of half of them; floor unlink") {
            try Self.fill(cache, keys)
            let half = await cache.size() / 2
            var removed = 0
            let sample = await Sample.of { removed = await cache.trim(to: half).entries }
            if abs(removed - Self.entries / 2) > Self.entries / 50 { throw BenchmarkFailure("\(removed) went") }
            return sample
        } floor: {
            // A twentieth of the files, timed and multiplied by ten: to write half of them again takes half a minute
            // on some disks.
            try Self.fill(cache, keys)
            var sample = Sample.of { _ = paths.withPointers { bench_unlink_files($0, Self.entries / 20) } }
            sample.wall *= 10
            sample.cpu *= 10
            return sample
        }
    }

    /// Compares the 99th percentile of a read's latency during a trim with the one without a trim.
    private func readers(_ cache: DiskCache, _ keys: [CacheKey], _ paths: CStrings) -> Comparison {
        comparison("p99 of entry(for:) during that trim; floor without it", .microseconds) {
            try Self.fill(cache, keys)
            let half = await cache.size() / 2
            let isOver = Counter()
            async let trimmed: Void = {
                await cache.trim(to: half)
                isOver.add(1)
            }()
            let sample = await Self.read(cache, keys) { isOver.value > 0 }
            await trimmed
            return sample
        } floor: {
            await Self.read(cache, keys) { false }
        }
    }

    /// Reads entries one after the other, until `isOver` is true and there are at least 1,000 reads, or there are
    /// 100,000.
    private static func read(_ cache: DiskCache, _ keys: [CacheKey], until isOver: () -> Bool) async -> Sample {
        var times: [Double] = []
        var sample = Sample.of {}
        var index = 1
        while times.count < 100_000, !isOver() || times.count < 1000 {
            index = (index &* 16_807) % 2_147_483_647
            let read = await Sample.of { _ = await cache.entry(for: keys[index % keys.count]) }
            times.append(read.wall)
        }
        times.sort()
        sample.wall = times[times.count * 99 / 100]
        return sample
    }
}
