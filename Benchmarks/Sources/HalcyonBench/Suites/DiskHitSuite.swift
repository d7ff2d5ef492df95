import CFloors
import Foundation
import Halcyon
import HalcyonCache

/// Measures reads of an entry in the disk cache, and checks for one, when the system has its file in memory.
struct DiskHitSuite: Suite {
    let names = ["disk-hit", "disk-contains"]
    private static let entries = 2000
    private static let size = 40 << 10

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let cache = DiskCache(folder: try scratch.makeFolder("disk-hit"))
        var data = Data((0..<Self.size).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
        let keys = (0..<Self.entries).map { CacheKey("https://images.example.org/photos/2026/\($0).jpg".utf8) }
        for (index, key) in keys.enumerated() {
            data[0] = UInt8(truncatingIfNeeded: index)
            try cache.storeSynchronously(data, for: key)
        }
        let paths = CStrings(keys.map { cache.folder.path(percentEncoded: false) + "/\($0.folderName)/\($0.fileName)" })
        return [
            comparison("entrySynchronously(for:)", paths) {
                var found = 0
                for key in keys where cache.entrySynchronously(for: key)?.data.count == Self.size { found += 1 }
                return found
            },
            comparison("entry(for:), one after the other", paths) {
                var found = 0
                for key in keys where await cache.entry(for: key)?.data.count == Self.size { found += 1 }
                return found
            },
            comparison("entry(for:), 8 at a time", paths) {
                await withTaskGroup(of: Int.self) { group in
                    for reader in 0..<8 {
                        group.addTask {
                            var found = 0
                            for index in stride(from: reader, to: keys.count, by: 8)
                            where await cache.entry(for: keys[index])?.data.count == Self.size { found += 1 }
                            return found
                        }
                    }
                    return await group.reduce(0, +)
                }
            },
            containing("containsSynchronously(_:)", paths) {
                // The keys are read in place; otherwise the copy of each key would be measured too.
                keys.withUnsafeBufferPointer { keys in
                    var found = 0
                    for index in keys.indices where cache.containsSynchronously(keys[index]) { found += 1 }
                    return found
                }
            },
            containing("contains(_:), one after the other", paths) {
                var found = 0
                for key in keys where await cache.contains(key) { found += 1 }
                return found
            },
        ]
    }

    private func containing(
        _ variant: String, _ paths: CStrings, _ ask: @escaping @Sendable () async -> Int
    ) -> Comparison {
        Comparison(
            name: "disk-contains", variant: variant, unit: .microseconds, operations: Self.entries,
            subject: {
                var found = 0
                let sample = await Sample.of { found = await ask() }
                if found != Self.entries { throw BenchmarkFailure("\(found) of \(Self.entries) entries were found") }
                return sample
            },
            floor: {
                var found = 0
                let sample = Sample.of { found = paths.withPointers { bench_access_files($0, Self.entries) } }
                if found != Self.entries { throw BenchmarkFailure("the files are not there") }
                return sample
            })
    }

    private func comparison(
        _ variant: String, _ paths: CStrings, _ read: @escaping @Sendable () async -> Int
    ) -> Comparison {
        Comparison(
            name: "disk-hit", variant: "40 KiB, \(variant)", unit: .microseconds, operations: Self.entries,
            subject: {
                var found = 0
                let sample = await Sample.of { found = await read() }
                if found != Self.entries { throw BenchmarkFailure("\(found) of \(Self.entries) entries were read") }
                return sample
            },
            floor: {
                var bytes = 0
                let sample = Sample.of { bytes = paths.withPointers { bench_read_files($0, Self.entries) } }
                if bytes < Self.entries * Self.size { throw BenchmarkFailure("the files could not be read") }
                return sample
            })
    }
}
