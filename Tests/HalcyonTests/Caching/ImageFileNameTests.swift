import Foundation
import Halcyon
import TestSupport
import Testing

/// The readable file names of an image cache.
@Suite(.timeLimit(.minutes(5)))
struct ImageFileNameTests {
    @Test func aFileIsCalledByItsURLAndOpensInAnyViewer() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let disk = DiskCache(
            folder: folder, configuration: .init(usesHashedFileName: false, fileExtension: .fromKey))
        let fixture = PipelineFixture(folder: folder) { $0.cache = ImageCache(disk: disk) }
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url, processors: [.flip(.vertical)], cachePolicy: .storeProcessed)
        let flipped = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let keys = (fixture.pipeline.cache.key(for: url), fixture.pipeline.cache.key(for: request))
        let original = disk.path(for: keys.0.originalEntryKey)
        let processed = disk.path(for: keys.1.processedEntryKey)
        #expect(original.lastPathComponent.contains("images.test"))
        #expect(original.pathExtension == "png")
        #expect(processed != original)
        // The bytes come first, so that the file is an image.
        #expect(try Image(contentsOf: original).size == flipped.size)
        #expect(try Image(contentsOf: processed).hasSamePixels(as: flipped))
        fixture.pipeline.cache.clearMemory()
        request.cachePolicy = .onlyIfCached
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
        #expect(await disk.count() == 2)
    }

    @Test func aFolderThatAProgramBringsAlongIsReadAndNeverWritten() async throws {
        let bundled = PipelineFixture(folder: PipelineFixture.temporaryFolder())
        let url = try bundled.serve("png/rgb8.png")
        _ = try await bundled.pipeline.image(for: url)
        #expect(await bundled.pipeline.shutdown(within: .seconds(300)))
        let folder = PipelineFixture.temporaryFolder()
        let disk = DiskCache(folder: folder, configuration: .init(readOnlyFolders: [bundled.folder]))
        let fixture = PipelineFixture(folder: folder) { $0.cache = ImageCache(disk: disk) }
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .disk)
        #expect(fixture.transport.requestCount == 0)
        await fixture.pipeline.cache.clearDisk()
        #expect(await bundled.pipeline.cache.diskCount == 1)
        #expect(await fixture.pipeline.cache.cachedLevel(for: url) == .memory)
    }
}
