import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Providers, files and bytes at hand in the disk cache, also in the next run of a program.
@Suite(.timeLimit(.minutes(5))) struct LocalSourceDiskTests {
    /// A provider that counts its calls and returns the bytes that it was made with.
    private struct Shelf: ImageDataProvider {
        var cacheKey = "shelf/7"
        var diskLevels = CacheLevels.disk
        var calls = Counter()
        var gate: ScriptedTransportGate?
        var bytes = Lock<Data?>(nil)

        init(_ file: String? = "png/rgb8.png", key: String = "shelf/7", diskLevels: CacheLevels = .disk) throws {
            (cacheKey, self.diskLevels) = (key, diskLevels)
            if let file { put(try TestFiles.data(file)) }
        }

        func put(_ data: Data) { bytes.withLock { $0 = data } }

        func data() async throws -> Data {
            calls.increment()
            try await gate?.wait()
            guard let data = bytes.withLock({ $0 }) else { throw CocoaError(.fileNoSuchFile) }
            return data
        }
    }

    private let flip: [any ImageProcessor] = [.flip(.vertical)]
    private let runs = Lock<[PipelineFixture]>([])
    private let folder = TemporaryFolder()

    /// Ends the run of a program: everything is on the disk, and memory is empty in the next one.
    private func nextRun(after fixture: PipelineFixture, clock: TimeSource = .system) async -> PipelineFixture {
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let next = PipelineFixture(folder: fixture.folder, clock: clock)
        // The folder goes with any of them.
        runs.withLock { $0 += [fixture, next] }
        return next
    }

    // MARK: - What is kept

    @Test func bytesOfAProviderAreOnTheDiskForTheNextRun() async throws {
        let (fixture, shelf) = (PipelineFixture(), try Shelf())
        let request = ImageRequest(.provider(shelf))
        #expect(try await fixture.pipeline.response(for: request).origin == .provider)
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        let next = await nextRun(after: fixture)
        #expect(await next.diskEntries() == 1)
        #expect(await next.pipeline.cache.cachedLevel(for: request) == .diskOriginal)
        let response = try await next.pipeline.response(for: ImageRequest(.provider(shelf), processors: flip))
        #expect(response.origin == .disk && response.cacheRule == nil)
        #expect(try await next.pipeline.data(for: request) == TestFiles.data("png/rgb8.png"))
        // A memory hit has its bytes as well.
        #expect(try await next.pipeline.response(for: request).origin == .disk)
        let hit = try await next.pipeline.response(for: request)
        #expect(hit.origin == .memory)
        #expect(try await hit.data() == TestFiles.data("png/rgb8.png"))
        #expect(shelf.calls.value == 1)
    }

    @Test(arguments: ["provider", "file", "data URL", "data", "base64"])
    func finishedImagesOfAnySourceAreOnTheDiskWhereThePolicyStoresThem(kind: String) async throws {
        let (fixture, shelf, data) = (PipelineFixture(), try Shelf(), try TestFiles.data("png/rgb8.png"))
        let source: ImageSource =
            switch kind {
            case "provider": .provider(shelf)
            case "file": .file(TestFiles.url("png/rgb8.png"))
            case "data URL": ImageSource(string: "data:image/png;base64," + data.base64EncodedString())
            case "data": .data(data, key: "picture")
            default: .base64(data.base64EncodedString())
            }
        let request = ImageRequest(source, processors: flip, cachePolicy: .storeProcessed)
        let first = try await fixture.pipeline.image(for: request)
        let next = await nextRun(after: fixture)
        // Bytes that are at hand are not copied.
        #expect(await next.diskEntries() == (kind == "provider" ? 2 : 1))
        let again = try await next.pipeline.response(for: request)
        #expect(again.origin == .disk && again.image.hasSamePixels(as: first))
        #expect(next.decodes.value == 0)
        // The bytes can be had nevertheless.
        #expect(try await again.data() == data)
        // At once, if that is wanted.
        next.pipeline.cache.clearMemory()
        var atOnce = request
        atOnce.cachePolicy = .synchronousDisk
        #expect(next.pipeline.task(for: atOnce).status == .finished)
        #expect(shelf.calls.value <= 1)
    }

    @Test func encodingsOfAProvidersImageAreKept() async throws {
        let (fixture, shelf) = (PipelineFixture(), try Shelf())
        let request = ImageRequest(.provider(shelf), processors: flip)
        let first = try await fixture.pipeline.encodedImage(for: request, as: .png)
        let next = await nextRun(after: fixture)
        #expect(try await next.pipeline.encodedImage(for: request, as: .png).data == first.data)
        #expect(next.decodes.value == 0 && shelf.calls.value == 1)
        await next.pipeline.cache.remove(request)
        _ = try await next.pipeline.encodedImage(for: request, as: .png)
        #expect(shelf.calls.value == 2)
    }

    @Test func aProviderSaysWhichLevelsAreWorthIt() async throws {
        let all: [(CacheLevels, Int)] = [(.disk, 2), (.diskProcessed, 1), (.diskOriginal, 1), ([], 0), (.memory, 0)]
        for (levels, count) in all {
            let (fixture, shelf) = (PipelineFixture(), try Shelf(diskLevels: levels))
            let request = ImageRequest(.provider(shelf), processors: flip, cachePolicy: .storeProcessed)
            for _ in 0..<2 {
                _ = try await fixture.pipeline.image(for: request)
                #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
                #expect(await fixture.diskEntries() == count, "\(levels)")
                fixture.pipeline.cache.clearMemory()
            }
            #expect(shelf.calls.value == (count == 0 ? 2 : 1))
            let before = await fixture.diskEntries()
            _ = try await fixture.pipeline.encodedImage(for: request, as: .png)
            #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
            // The encoding and its seal.
            let hasEncoding = levels.contains(.diskProcessed)
            #expect(await fixture.diskEntries() == before + (hasEncoding ? 2 : 0), "\(levels)")
        }
    }

    @Test func whatAPolicyKeepsOffTheDiskIsNotThere() async throws {
        for policy in [CachePolicy.noStore, .memoryOnly] {
            let (fixture, shelf) = (PipelineFixture(), try Shelf())
            _ = try await fixture.pipeline.image(
                for: ImageRequest(.provider(shelf), processors: flip, cachePolicy: policy))
            let next = await nextRun(after: fixture)
            #expect(await next.diskEntries() == 0)
            #expect(try await next.pipeline.response(for: ImageRequest(.provider(shelf))).origin == .provider)
        }
    }

    @Test func bytesThatAreNoImageAreNotKept() async throws {
        for bytes in [Data(), Data("no image".utf8), try TestFiles.data("png/rgb8.png").prefix(60)] {
            let (fixture, shelf) = (PipelineFixture(), try Shelf())
            shelf.put(bytes)
            let request = ImageRequest(.provider(shelf), processors: flip, cachePolicy: .storeProcessed)
            await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
            #expect(try await fixture.pipeline.data(for: request) == bytes)
            #expect(await ImagePrefetcher([request], pipeline: fixture.pipeline).run().failed.count == 1)
            let next = await nextRun(after: fixture)
            #expect(await next.diskEntries() == 0)
            shelf.put(try TestFiles.data("png/rgb8.png"))
            #expect(try await next.pipeline.response(for: request).origin == .provider)
        }
    }

    @Test func aFailureIsNotRemembered() async throws {
        let shelf = try Shelf(nil)
        let fixture = PipelineFixture {
            $0.rememberedFailures = RememberedFailures(duration: .seconds(1000)) { _ in true }
        }
        for _ in 0..<2 {
            await #expect(throws: ImagePipelineError.self) {
                try await fixture.pipeline.image(for: ImageRequest(.provider(shelf)))
            }
        }
        #expect(shelf.calls.value == 2 && fixture.pipeline.rememberedFailureCount == 0)
        shelf.put(try TestFiles.data("png/rgb8.png"))
        _ = try await fixture.pipeline.image(for: ImageRequest(.provider(shelf)))
    }

    // MARK: - What counts

    @Test func aDamagedEntryIsReplacedByAnotherCall() async throws {
        let (fixture, shelf) = (PipelineFixture(), try Shelf())
        let request = ImageRequest(.provider(shelf))
        let disk = try #require(fixture.pipeline.cache.disk)
        try await disk.store(Data("no image".utf8), for: fixture.pipeline.key(for: request).originalEntryKey)
        #expect(try await fixture.pipeline.response(for: request).origin == .provider)
        let next = await nextRun(after: fixture)
        #expect(try await next.pipeline.response(for: request).origin == .disk)
        #expect(shelf.calls.value == 1)
    }

    @Test func aReloadCallsTheProviderAndReplacesWhatWasMadeBefore() async throws {
        let (fixture, shelf) = (PipelineFixture(), try Shelf())
        var request = ImageRequest(.provider(shelf), processors: flip, cachePolicy: .storeProcessed)
        let former = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        shelf.put(try TestFiles.data("jpeg/gray.jpg"))
        // A reload that stores no finished image removes the former one.
        request.cachePolicy = .reload
        let reloaded = try await fixture.pipeline.response(for: request)
        #expect(reloaded.origin == .provider && !reloaded.image.hasSamePixels(as: former))
        let next = await nextRun(after: fixture)
        request.cachePolicy = .default
        let again = try await next.pipeline.response(for: request)
        #expect(again.origin == .disk && again.image.hasSamePixels(as: reloaded.image))
        #expect(shelf.calls.value == 2)
    }

    @Test func cachesAloneAnswerFromTheDiskOrNotAtAll() async throws {
        let (fixture, shelf) = (PipelineFixture(), try Shelf())
        let request = ImageRequest(.provider(shelf), cachePolicy: .onlyIfCached)
        await #expect { try await fixture.pipeline.image(for: request) } throws: {
            ($0 as? ImagePipelineError)?.code == "notInCache"
        }
        #expect(shelf.calls.value == 0)
        _ = try await fixture.pipeline.image(for: ImageRequest(.provider(shelf)))
        let next = await nextRun(after: fixture)
        #expect(try await next.pipeline.response(for: request).origin == .disk)
        // Nothing can revalidate the bytes of a provider: the key says that they are the same.
        let revalidated = ImageRequest(.provider(shelf), processors: flip, cachePolicy: .revalidate)
        #expect(try await next.pipeline.response(for: revalidated).origin == .disk)
        #expect(shelf.calls.value == 1)
    }

    @Test func anEntryIsKeptUntilItExpires() async throws {
        let (clock, shelf) = (ManualClock(), try Shelf())
        let fixture = PipelineFixture(clock: clock.timeSource)
        var request = ImageRequest(.provider(shelf))
        request.cachePolicy.diskExpiration = .seconds(10)
        request.cachePolicy.diskExtension = ExpirationExtension.none
        _ = try await fixture.pipeline.image(for: request)
        clock.advance(by: .seconds(9))
        let next = await nextRun(after: fixture, clock: clock.timeSource)
        #expect(try await next.pipeline.response(for: request).origin == .disk)
        clock.advance(by: .seconds(2))
        next.pipeline.cache.clearMemory()
        #expect(try await next.pipeline.response(for: request).origin == .provider)
    }

    @Test func aRemovalTakesItFromTheDiskAndFromWhatIsUnderWay() async throws {
        let fixture = PipelineFixture()
        var shelf = try Shelf()
        var request = ImageRequest(.provider(shelf), processors: flip, cachePolicy: .storeProcessed)
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        await fixture.pipeline.cache.remove(request)
        #expect(await fixture.diskEntries() == 0)

        shelf.gate = ScriptedTransportGate()
        request.source = .provider(shelf)
        let task = fixture.pipeline.task(for: request)
        while shelf.calls.value < 2 { await Task.yield() }
        await fixture.pipeline.cache.remove(request)
        shelf.gate?.open()
        _ = try await task.response
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await fixture.diskEntries() == 0)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request) == nil)
    }

    @Test func bytesOnTheirWayToTheDiskNeedNoOtherCall() async throws {
        let (held, shelf) = (HeldDecoder(holding: .decode), try Shelf())
        let fixture = PipelineFixture { $0.coders.add(held) }
        let first = fixture.pipeline.task(for: ImageRequest(.provider(shelf)))
        while held.decodes.value == 0 { await Task.yield() }
        // The call has ended, and the bytes have not proved to be an image yet.
        #expect(try await fixture.pipeline.data(for: ImageRequest(.provider(shelf))).count > 0)
        held.release()
        _ = try await first.response
        #expect(shelf.calls.value == 1)
    }

    // MARK: - Keys

    @Test func providersShareNothingWithSourcesOfTheSameText() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/gray.jpg")
        let shelf = try Shelf(key: url.absoluteString)
        _ = try await fixture.pipeline.image(for: ImageRequest(url))
        let data = try TestFiles.data("gif/still.gif")
        _ = try await fixture.pipeline.image(for: ImageRequest(.data(data, key: shelf.cacheKey)))
        let next = await nextRun(after: fixture)
        let response = try await next.pipeline.response(for: ImageRequest(.provider(shelf)))
        #expect(response.origin == .provider && response.image.info.format == .png)
        let last = await nextRun(after: next)
        #expect(try await last.pipeline.image(for: ImageRequest(url)).info.format == .jpeg)
    }

    /// A server's answer may be for all users. The bytes of a provider are not those of another key.
    @Test func theKeyOfAUserFindsNothingOfTheKeyWithoutOne() async throws {
        let fixture = PipelineFixture()
        let keys = ["sftp://host/a.png", "sftp://bob@host/a.png", "sftp://alice:hunter2@host/a.png"]
        let images = ["png/rgb8.png", "jpeg/gray.jpg", "gif/still.gif"]
        let formats = [ImageFormat.png, .jpeg, .gif]
        var fixtures = [fixture]
        for turn in 0..<2 {
            for (index, key) in keys.enumerated() {
                let shelf = try Shelf(images[index], key: key)
                let request = ImageRequest(.provider(shelf), processors: flip, cachePolicy: .storeProcessed)
                let pipeline = fixtures[turn].pipeline
                #expect(try await pipeline.image(for: request).info.format == formats[index])
                #expect(shelf.calls.value == (turn == 0 ? 1 : 0))
                let encoded = try await pipeline.encodedImage(for: request, as: .png)
                #expect(try await Image(data: encoded.data).hasSamePixels(as: pipeline.image(for: request)))
            }
            fixtures.append(await nextRun(after: fixtures[turn]))
        }
        // No secret is on the disk.
        let files = try #require(FileManager.default.subpaths(atPath: fixture.folder.path()))
        let contents = files.compactMap { try? Data(contentsOf: fixture.folder.appending(path: $0)) }
        #expect(contents.count >= 12)
        #expect(contents.allSatisfy { $0.range(of: Data("hunter2".utf8)) == nil })
    }

    // MARK: - Files

    /// Returns a BMP file of one pixel, which has the same length for each colour.
    private func bitmap(_ level: UInt8) -> Data {
        var file = Data("BM".utf8)
        for number in [58, 0, 54, 40, 1, 1] { withUnsafeBytes(of: UInt32(number).littleEndian) { file += $0 } }
        for number in [1, 24] { withUnsafeBytes(of: UInt16(number).littleEndian) { file += $0 } }
        for number in [0, 4, 0, 0, 0, 0] { withUnsafeBytes(of: UInt32(number).littleEndian) { file += $0 } }
        return file + [level, level, level, 0]
    }

    private func level(_ image: Image) -> UInt8 { image.withPixels { $0[0] } }

    @Test func aFileThatChangedIsNotServedFromTheDisk() async throws {
        let fixture = PipelineFixture()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appending(path: "a.bmp")
        try bitmap(0).write(to: file)
        var request = ImageRequest(.file(file), processors: flip, cachePolicy: .storeProcessed)
        request.cachePolicy.waitsForStore = true
        request.cachePolicy.reads.subtract([.memory])
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        // As often within one time of the file system as the processor allows.
        for step in 0..<60 {
            let pixel = UInt8(step)
            try handle.seek(toOffset: 54)
            try handle.write(contentsOf: Data([pixel, pixel, pixel]))
            #expect(try await level(fixture.pipeline.image(for: request)) == pixel)
        }
        let next = await nextRun(after: fixture)
        #expect(try await next.pipeline.response(for: request).origin == .disk)
        try handle.seek(toOffset: 54)
        try handle.write(contentsOf: Data([200, 200, 200]))
        #expect(try await level(next.pipeline.image(for: request)) == 200)
        let encoded = try await next.pipeline.encodedImage(for: request, as: .png)
        #expect(try level(Image(data: encoded.data)) == 200)
    }

    @Test func aFileUnderAKeyOfTheRequestStaysOffTheDisk() async throws {
        let fixture = PipelineFixture()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appending(path: "a.bmp")
        var request = ImageRequest(.file(file), processors: flip, cachePolicy: .storeProcessed)
        request.cacheKey = "avatar"
        for pixel: UInt8 in [10, 20] {
            try bitmap(pixel).write(to: file)
            fixture.pipeline.cache.clearMemory()
            #expect(try await level(fixture.pipeline.image(for: request)) == pixel)
            let encoded = try await fixture.pipeline.encodedImage(for: request, as: .png)
            #expect(try level(Image(data: encoded.data)) == pixel)
            #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
            #expect(await fixture.diskEntries() == 0)
        }
    }
}
