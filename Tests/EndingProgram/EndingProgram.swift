import Foundation
import Glibc
import Halcyon
import HalcyonCache
import HalcyonSystem

/// Ends in the middle of its work, as a tool does whose `main` is over: other threads go on while the handlers of the exit
/// and the destructors of all libraries run.
///
///     EndingProgram hash - COUNT
///     EndingProgram store FOLDER COUNT
///     EndingProgram decode FILE COUNT
///
/// It ends with status 0 once so much of the work is done, and four workers are in the middle of further ones.
@main enum EndingProgram {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let work = arguments.first, let count = Int(arguments[3]) else { exit(64) }
        let url = URL(filePath: arguments[2])
        let done: AsyncStream<Void>
        switch work {
        case "hash": done = hash()
        case "store": done = store(in: url)
        case "decode": done = decode(try Data(contentsOf: url))
        default: exit(64)
        }
        var left = count
        for await _ in done {
            left -= 1
            if left == 0 { exit(0) }
        }
    }

    /// - Returns: an element each time that one of the workers has done its work once more.
    private static func workers(_ work: @escaping @Sendable (Int) async throws -> Void) -> AsyncStream<Void> {
        let (done, continuation) = AsyncStream<Void>.makeStream()
        for worker in 0..<4 {
            Task.detached {
                var number = worker
                while true {
                    do {
                        try await work(number)
                    } catch {
                        exit(1)
                    }
                    number += 4
                    continuation.yield()
                    // Work that only computes would keep the others from their threads.
                    await Task.yield()
                }
            }
        }
        return done
    }

    private static func hash() -> AsyncStream<Void> {
        workers { number in
            for index in 0..<1000 { _ = KeyedHash(of: Array("\(number) \(index)".utf8), key: [1, 2, 3]) }
        }
    }

    private static func store(in folder: URL) -> AsyncStream<Void> {
        let cache = DiskCache(folder: folder)
        return workers { number in try await cache.store(Data([1]), for: CacheKey("\(number)")) }
    }

    private static func decode(_ data: Data) -> AsyncStream<Void> {
        let pipeline = ImagePipeline(configuration: .init(cache: ImageCache(disk: nil)))
        return workers { number in _ = try await pipeline.image(for: ImageRequest(.data(data, key: "\(number)"))) }
    }
}
