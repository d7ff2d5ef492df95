import CFloors
import Foundation
import Halcyon

/// What it costs to write entries in the place of others, as a cache does once it is full.
struct DiskStoreSuite: Suite {
    let names = ["disk-store"]
    private static let entries = 200
    private static let size = 40 << 10

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let cache = DiskCache(folder: try scratch.makeFolder("disk-store"))
        let data = Data((0..<Self.size).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
        let keys = (0..<Self.entries).map { DiskKey("https://images.example.org/photos/2026/\($0).jpg".utf8) }
        let floor = try floor(scratch, keys, data)
        return [
            comparison("stage(for:) and flush()", floor) {
                for key in keys { await cache.stage(data, for: key) }
                await cache.flush()
                return cache.statistics.failedWrites
            },
            comparison("storeSynchronously(for:)", floor) {
                for key in keys { try cache.storeSynchronously(data, for: key) }
                return cache.statistics.failedWrites
            },
        ]
    }

    private func comparison(
        _ variant: String, _ floor: @escaping @Sendable () throws -> Sample,
        _ store: @escaping @Sendable () async throws -> Int
    ) -> Comparison {
        Comparison(
            name: "disk-store", variant: "200 x 40 KiB, \(variant)", unit: .microseconds, operations: Self.entries,
            subject: {
                var failed = 0
                let sample = try await Sample.of { failed = try await store() }
                if failed > 0 { throw BenchmarkFailure("\(failed) writes failed") }
                return sample
            },
            floor: floor)
    }

    /// The same files under the same names, in a folder of their own.
    private func floor(
        _ scratch: ScratchFolder, _ keys: [DiskKey], _ data: Data
    ) throws -> @Sendable () throws -> Sample {
        let folder = try scratch.makeFolder("disk-store-floor").path(percentEncoded: false)
        for name in Set(keys.map(\.folderName)) { _ = try scratch.makeFolder("disk-store-floor/\(name)") }
        let paths = CStrings(keys.map { "\(folder)/\($0.folderName)/\($0.fileName)" })
        let temporaries = CStrings(keys.map { "\(folder)/\($0.folderName)/.\($0.fileName)" })
        return {
            var isWritten = false
            let sample = Sample.of {
                isWritten = paths.withPointers { paths in
                    temporaries.withPointers { temporaries in
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
