import Foundation
import HalcyonSystem
import HalcyonTesting

@testable import HalcyonCache

/// A disk cache in a folder of its own, which is removed with it, under a clock turned by hand.
final class DiskFixture: Sendable {
    let folder: URL
    let clock = ManualClock()
    let files = FaultInjectingFileSystem()
    let cache: DiskCache

    init(
        sizeLimit: Int? = 1 << 20, expiration: StorageExpiration = .days(7),
        accessExtension: ExpirationExtension = .cacheTime, stagingLimit: Int = 1 << 20, threads: Int = 2,
        configure: (inout DiskCache.Configuration) -> Void = { _ in }
    ) {
        folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-cache-\(UUID().uuidString)")
        // Nothing goes by itself but where a test is about that.
        var configuration = DiskCache.Configuration(
            sizeLimit: sizeLimit, expiration: expiration, accessExtension: accessExtension, stagingLimit: stagingLimit,
            sweepInterval: nil)
        configure(&configuration)
        cache = DiskCache(
            folder: folder, configuration: configuration,
            fileSystem: files, timeSource: clock.timeSource, threads: ThreadPool(name: "test-io", threads: threads))
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Another cache object on the same folder.
    func secondCache() -> DiskCache {
        DiskCache(folder: folder, configuration: cache.configuration, timeSource: clock.timeSource)
    }

    func file(_ key: CacheKey) -> URL {
        folder.appending(path: key.folderName).appending(path: key.fileName)
    }

    func status(_ key: CacheKey) throws -> FileStatus {
        try files.status(at: file(key).path)
    }

    /// Returns the size of a file of the folder, by its path there.
    func size(of path: String) throws -> Int {
        try files.status(at: folder.appending(path: path).path).size
    }

    func exists(_ key: CacheKey) -> Bool {
        (try? status(key)) != nil
    }

    /// Puts bytes where an entry's file would be, kept for a day.
    func write(_ bytes: Data, as key: CacheKey) throws {
        let file = file(key)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? files.unlink(file.path)
        let descriptor = try files.open(file.path, for: .creating)
        if !bytes.isEmpty { _ = try bytes.withUnsafeBytes { try files.write(descriptor, $0) } }
        try files.setTimes(
            of: descriptor, accessed: FileTime(clock.now), modified: FileTime(clock.now.addingTimeInterval(86_400)))
        try files.close(descriptor)
    }

    /// All regular files below the folder, as paths relative to it.
    func allFiles() -> Set<String> {
        var found: Set<String> = []
        func visit(_ path: String, _ prefix: String) {
            try? PosixFileSystem().list(path) { name, status in
                if status.kind == .directory {
                    visit("\(path)/\(name)", "\(prefix)\(name)/")
                } else {
                    found.insert(prefix + name)
                }
            }
        }
        visit(folder.path, "")
        return found
    }

    static let key = CacheKey("https://example.com/a.jpg".utf8)
    /// Made each time: the leak checker does not see that a global of this size is still held.
    static var data: Data { Data("the bytes of an image".utf8) }

    static func key(_ number: Int) -> CacheKey { CacheKey("key \(number)".utf8) }
}
