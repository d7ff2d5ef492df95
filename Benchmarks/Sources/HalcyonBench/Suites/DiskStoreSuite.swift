import CFloors
import Foundation
import Halcyon
import HalcyonCache

/// Measures writes that replace entries, as in a full cache.
///
/// Only processor time is significant: the disk's own time is not Halcyon's. It varies too, with the layout of the
/// files and with the system's write-back, and so both sides start alike: each in a fresh folder that a cache has
/// filled, with everything flushed to disk before each run. Two runs go forwards and the next two backwards, since
/// the side that comes first changes with each run.
struct DiskStoreSuite: Suite {
    let names = ["disk-store"]
    private static let entries = 200
    private static let size = 40 << 10

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let data = Data((0..<Self.size).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
        return [
            try comparison("stage(for:) and flush()", data, scratch) { cache, keys in
                for key in keys { await cache.stage(data, for: key) }
                await cache.flush()
            },
            try comparison("storeSynchronously(for:)", data, scratch) { cache, keys in
                for key in keys { try cache.storeSynchronously(data, for: key) }
            },
        ]
    }

    private func comparison(
        _ variant: String, _ data: Data, _ scratch: ScratchFolder,
        _ store: @escaping @Sendable (DiskCache, [CacheKey]) async throws -> Void
    ) throws -> Comparison {
        let keys = (0..<Self.entries).map { CacheKey("https://images.example.org/photos/2026/\($0).jpg".utf8) }
        let cache = try self.cache("disk-store", keys, data, scratch)
        let floor = try self.floor(keys, data, scratch)
        let turns = Counter()
        return Comparison(
            name: "disk-store", variant: "200 x 40 KiB, \(variant)", unit: .microseconds, operations: Self.entries,
            subject: {
                let order = (turns.value / 2).isMultiple(of: 2) ? keys : keys.reversed()
                turns.add(1)
                bench_sync_folder(cache.folder.path(percentEncoded: false))
                let sample = try await Sample.of { try await store(cache, order) }
                if cache.statistics.failedWrites > 0 { throw BenchmarkFailure("writes failed") }
                return sample
            },
            floor: floor)
    }

    /// Returns a cache with all entries, in a folder of its own.
    private func cache(
        _ name: String, _ keys: [CacheKey], _ data: Data, _ scratch: ScratchFolder
    ) throws -> DiskCache {
        let cache = DiskCache(folder: try scratch.makeFolder("\(name)-\(UUID().uuidString)"))
        for key in keys { try cache.storeSynchronously(data, for: key) }
        return cache
    }

    /// Returns the floor: the same files in the same folders, written by C.
    private func floor(
        _ keys: [CacheKey], _ data: Data, _ scratch: ScratchFolder
    ) throws -> @Sendable () throws -> Sample {
        let folder = try cache("disk-store-floor", keys, data, scratch).folder.path(percentEncoded: false)
        let orders = [keys, keys.reversed()].map { keys in
            (
                paths: CStrings(keys.map { "\(folder)/\($0.folderName)/\($0.fileName)" }),
                temporaries: CStrings(keys.map { "\(folder)/\($0.folderName)/.halcyon-\($0.fileName.prefix(16))" })
            )
        }
        let turns = Counter()
        return {
            let order = orders[turns.value / 2 % 2]
            turns.add(1)
            bench_sync_folder(folder)
            var isWritten = false
            let sample = Sample.of {
                isWritten = order.paths.withPointers { paths in
                    order.temporaries.withPointers { temporaries in
                        data.withUnsafeBytes {
                            bench_replace_files(paths, temporaries, Self.entries, $0.baseAddress, $0.count)
                        }
                    }
                }
            }
            if !isWritten { throw BenchmarkFailure("the files could not be written") }
            return sample
        }
    }
}
