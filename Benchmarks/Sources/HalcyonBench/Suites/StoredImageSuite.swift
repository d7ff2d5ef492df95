import CFloors
import Foundation
import Halcyon

/// Loads finished images from the disk into memory, all requested at once.
struct StoredImageSuite: Suite {
    let names = ["disk-finished"]
    private static let count = 500
    private static let size = PixelSize(320, 240)

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let cache = ImageCache(disk: DiskCache(folder: try scratch.makeFolder("disk-finished")), memoryPressure: nil)
        let pipeline = ImagePipeline(configuration: ImagePipeline.Configuration(cache: cache))
        let folder = try scratch.makeFolder("disk-finished-floor")
        var requests: [ImageRequest] = []
        var files: [String] = []
        for number in 0..<Self.count {
            let request = ImageRequest(
                URL(string: "http://images.example.org/\(number).jpg"), processors: [.flip(.horizontal)],
                cachePolicy: .onlyIfCached)
            let image = try NoiseImage.make(Self.size, seed: UInt64(number))
            try await cache.store(image, for: request, to: .diskProcessed)
            let file = folder.appending(path: "\(number)")
            try image.bitmap.withPixels { try Data($0).write(to: file) }
            requests.append(request)
            files.append(file.path(percentEncoded: false))
        }
        await cache.disk?.flush()
        let (all, paths) = (requests, CStrings(files))
        return [
            Comparison(
                name: "disk-finished", variant: "500 of 320x240, image(for:)", unit: .milliseconds, operations: 1,
                images: Self.count,
                subject: {
                    cache.clearMemory()
                    return try await Sample.of {
                        try await withThrowingTaskGroup(of: ImageOrigin.self) { group in
                            for request in all {
                                group.addTask { try await pipeline.response(for: request).origin }
                            }
                            for try await origin in group where origin != .disk {
                                throw BenchmarkFailure("an image came from \(origin)")
                            }
                        }
                    }
                },
                floor: {
                    var bytes = 0
                    let sample = Sample.of { bytes = paths.withPointers { bench_read_files($0, Self.count) } }
                    if bytes < Self.count * Self.size.width * Self.size.height * 4 {
                        throw BenchmarkFailure("the files could not be read")
                    }
                    return sample
                })
        ]
    }
}
