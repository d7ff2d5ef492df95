import Foundation
import Halcyon
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// The cache of images by itself, without a pipeline.
@Suite(.timeLimit(.minutes(5)))
struct ImageCacheTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()
    private let cache: ImageCache
    private let url = URL(web: "http://images.test/a/photo.png?size=2")

    init() {
        cache = ImageCache(disk: DiskCache(folder: folder.url, timeSource: clock.timeSource), clock: clock.timeSource)
    }

    private func image(_ file: String = "png/rgba8.png") throws -> (image: Image, data: Data) {
        let data = try TestFiles.data(file)
        return (try Image(data: data), data)
    }

    /// One way to name an image, and another that means the same.
    private func names() -> [(any ImageKeyConvertible, any ImageKeyConvertible)] {
        let processors: [any ImageProcessor] = [.resize(to: PixelSize(9, 9)), .flip(.vertical)]
        return [
            (url, url.absoluteString),
            (url.absoluteString, ImageRequest(url)),
            ("a key of one's own", ImageKey(source: "a key of one's own")),
            (
                ImageRequest(url, processors: processors),
                ImageKey(source: url.absoluteString, processors: processors)
            ),
        ]
    }

    @Test func equivalentKeysShareOneEntry() async throws {
        let (image, data) = try image()
        for (name, other) in names() {
            #expect(await cache.cachedLevel(for: name) == nil)
            try await cache.store(image, original: data, for: name)
            #expect(await cache.cachedLevel(for: other) == .memory)
            #expect(cache.image(inMemoryFor: other)?.hasSamePixels(as: image) == true)
            await cache.disk?.flush()
            cache.clearMemory()
            #expect(cache.image(inMemoryFor: other) == nil)
            let isProcessed = cache.key(for: name).isProcessed
            #expect(await cache.cachedLevel(for: other) == (isProcessed ? .diskProcessed : .diskOriginal))
            let found = try #require(try await cache.image(for: other))
            #expect(found.hasSamePixels(as: image))
            #expect(found.info == image.info)
            // Promoted.
            #expect(await cache.cachedLevel(for: name) == .memory)
            await cache.remove(other)
            #expect(await cache.cachedLevel(for: name) == nil)
            #expect(try await cache.image(for: name) == nil)
        }
        #expect(await cache.diskCount == 0)
    }

    @Test func limitsOfBothLevelsCanBeChanged() async throws {
        let (image, data) = try image()
        for number in 0..<3 { try await cache.store(image, original: data, for: "\(number)") }
        await cache.disk?.flush()
        cache.memoryConfiguration.countLimit = 1
        #expect(cache.memoryConfiguration == MemoryCacheConfiguration(countLimit: 1))
        #expect(cache.memoryStatistics.count == 1)
        cache.memoryConfiguration.timeToLive = .seconds(1)
        clock.advance(by: .seconds(1))
        await cache.removeExpired()
        #expect(cache.memoryStatistics.count == 0)
        let disk = try #require(cache.disk)
        disk.sizeLimit = 0
        #expect(await disk.shutdown(within: .seconds(300)))
        #expect(await cache.diskCount == 0)
    }

    @Test func eachLevelIsStoredToAndRemovedFromByItself() async throws {
        let (image, data) = try image()
        try await cache.store(image, original: data, for: url, to: .memory)
        await cache.disk?.flush()
        #expect(await cache.diskCount == 0)
        try await cache.store(image, original: data, for: url, to: .disk)
        await cache.remove(url, from: .memory)
        #expect(await cache.cachedLevel(for: url) == .diskOriginal)
        try await cache.store(image, original: data, for: url)
        await cache.remove(url, from: .disk)
        #expect(await cache.cachedLevel(for: url) == .memory)
        await cache.disk?.flush()
        #expect(await cache.diskSize == 0)
    }

    @Test func theSourcesBytesAreWhatTheDiskHolds() async throws {
        let (image, data) = try image("jpeg/baseline-444.jpg")
        try await cache.store(image, original: data, for: url, extended: Data("mine".utf8))
        #expect(await cache.storedOriginal(for: url)?.data == data)
        #expect(await cache.extendedData(for: url) == Data("mine".utf8))
        await cache.remove(url)
        #expect(await cache.extendedData(for: url) == nil)
    }

    @Test func aProcessedImageAndItsSourceAreKeptApart() async throws {
        let (image, data) = try image()
        let small = ImageRequest(url, processors: [.resize(to: PixelSize(4, 4))])
        let made = try ResizeProcessor(PixelSize(4, 4)).process(image, context: .uncancellable)
        try await cache.store(made, original: data, for: small)
        cache.clearMemory()
        #expect(try await cache.image(for: small)?.hasSamePixels(as: made) == true)
        // The full size is not the small one.
        #expect(try await cache.image(for: url)?.size == image.size)
        await cache.disk?.flush()
        #expect(await cache.diskCount == 2)
    }

    @Test func anImageWithoutItsBytesIsKeptWithoutLoss() async throws {
        let (image, _) = try image("jpeg/baseline-444.jpg")
        try await cache.store(image, for: url)
        cache.clearMemory()
        #expect(try await cache.image(for: url)?.hasSamePixels(as: image) == true)
    }

    @Test func anImageThatShowsLessIsNotKeptAsItsSource() async throws {
        let (animation, _) = try image("animation/keep.gif")
        var request = ImageRequest(url)
        request.decode.firstFrameOnly = true
        let still = Image(bitmap: animation.bitmap, info: animation.info)
        try await cache.store(still, for: request)
        await cache.disk?.flush()
        #expect(await cache.diskCount == 0)
    }

    @Test func processorsRunOnWhatTheDiskHasOfTheSource() async throws {
        let (image, data) = try image()
        try await cache.store(image, original: data, for: url, to: .disk)
        let runs = Counter()
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(8, 6)), CountingProcessor("a", runs: runs)])
        let made = try #require(try await cache.image(for: request))
        #expect(made.size.width <= 8 && made.size.height <= 6)
        #expect(runs.value == 1)
        _ = try await cache.image(for: request)
        #expect(runs.value == 1)
    }

    @Test func bytesThatAreNoImageAreRemoved() async throws {
        let disk = try #require(cache.disk)
        let key = cache.key(for: url)
        try await disk.store(Data("no image".utf8), for: key.originalEntryKey)
        #expect(try await cache.image(for: url) == nil)
        #expect(await disk.contains(key.originalEntryKey) == false)
        let small = ImageRequest(url, processors: [.flip(.vertical)])
        let (image, _) = try image()
        try await cache.store(image, for: small)
        await disk.flush()
        let smallKey = cache.key(for: small).processedEntryKey
        let entry = try #require(await disk.entry(for: smallKey))
        try await disk.store(entry.data.prefix(60), metadata: entry.metadata, for: smallKey)
        cache.clearMemory()
        #expect(try await cache.image(for: small) == nil)
        #expect(await disk.contains(smallKey) == false)
    }

    @Test func aPreviewIsNotKept() async throws {
        let (image, _) = try image()
        var info = image.info
        info.isPreview = true
        let preview = Image(bitmap: image.bitmap, info: info)
        await #expect(throws: ImageCacheError.preview) { try await cache.store(preview, for: url) }
        #expect(await cache.cachedLevel(for: url) == nil)
    }

    @Test func expiredImagesAreMissesAndGo() async throws {
        let (image, data) = try image()
        try await cache.store(image, original: data, for: url, expiration: .seconds(10))
        try await cache.store(image, original: data, for: "stays", expiration: .never)
        await cache.disk?.flush()
        clock.advance(by: .seconds(11))
        #expect(await cache.cachedLevel(for: url) == nil)
        #expect(try await cache.image(for: url) == nil)
        await cache.removeExpired(from: .memory)
        #expect(await cache.diskCount == 2)
        await cache.removeExpired()
        #expect(await cache.diskCount == 1)
        #expect(await cache.cachedLevel(for: "stays") == .memory)
        #expect(cache.memoryStatistics.count == 1)
    }

    @Test func aStoreThatHasExpiredAlreadyKeepsNothing() async throws {
        let (image, data) = try image()
        try await cache.store(image, original: data, for: url, expiration: .expired)
        #expect(await cache.cachedLevel(for: url) == nil)
    }

    @Test func clearingTheDiskLeavesMemory() async throws {
        let (image, data) = try image()
        try await cache.store(image, original: data, for: url)
        await cache.clearDisk()
        #expect(await cache.diskCount == 0)
        #expect(await cache.cachedLevel(for: url) == .memory)
    }
}
