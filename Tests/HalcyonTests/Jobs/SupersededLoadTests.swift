import Foundation
import Halcyon
import HalcyonCache
import HalcyonTesting
import TestSupport
import Testing

/// A load without subscribers stops before its next step.
@Suite(.timeLimit(.minutes(5)))
struct SupersededLoadTests {
    /// T-42: the disk's bytes come, and are neither decoded nor kept in memory, nor is anything else asked.
    @Test func aLoadCancelledAtTheDiskDecodesNothing() async throws {
        let files = FaultInjectingFileSystem()
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder) {
            $0.cache = ImageCache(disk: DiskCache(folder: folder, fileSystem: files))
        }
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        _ = await fixture.diskEntries()
        fixture.pipeline.cache.clearMemory()
        let decodes = fixture.decodes.value
        for held in [FileOperation.open, .read] {
            files.hold(held)
            let task = fixture.pipeline.task(for: ImageRequest(url))
            let ends = Counter()
            let reader = Task {
                do { _ = try await task.response } catch is CancellationError { ends.increment() }
            }
            try await files.waitForHeld(held)
            task.cancel()
            try await reader.value
            files.release(held)
            while await fixture.pipeline.jobCount > 0 { await Task.yield() }
            #expect(ends.value == 1)
            #expect(fixture.decodes.value == decodes)
            #expect(fixture.pipeline.cache.image(inMemoryFor: url) == nil)
            #expect(fixture.transport.requestCount == 1)
        }
        // The next one is as good as ever.
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .disk)
    }

    /// The second of two loads for one place is the one that comes.
    @Test func theNextLoadDoesNotWaitForTheOneBefore() async throws {
        let files = FaultInjectingFileSystem()
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder) {
            $0.cache = ImageCache(disk: DiskCache(folder: folder, fileSystem: files))
        }
        let (first, second) = (try fixture.serve("png/rgb8.png"), try fixture.serve("png/rgba8.png"))
        for url in [first, second] { _ = try await fixture.pipeline.image(for: url) }
        _ = await fixture.diskEntries()
        fixture.pipeline.cache.clearMemory()
        files.hold(.read)
        let old = fixture.pipeline.task(for: ImageRequest(first))
        try await files.waitForHeld(.read)
        old.cancel()
        let new = fixture.pipeline.task(for: ImageRequest(second))
        files.release(.read)
        #expect(try await new.response.origin == .disk)
        await #expect(throws: CancellationError.self) { try await old.response }
        #expect(fixture.pipeline.cache.image(inMemoryFor: first) == nil)
        #expect(fixture.pipeline.cache.image(inMemoryFor: second) != nil)
    }
}
