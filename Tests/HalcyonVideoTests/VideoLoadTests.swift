import Foundation
import Halcyon
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import HalcyonTesting
import HalcyonVideo
import TestSupport
import Testing

/// Frames of videos in a pipeline: their keys, their memory, and their ends.
@Suite(.timeLimit(.minutes(5))) struct VideoLoadTests {
    private let folder = TemporaryFolder()

    @Test func aFrameIsReadOnceAndKept() async throws {
        let fixture = PipelineFixture()
        let file = try TestVideo.write(to: "a.webm", in: folder)
        let request = ImageRequest(.provider(VideoFrame(file, at: .seconds(3))))
        let first = try await fixture.pipeline.response(for: request)
        #expect(first.origin == .provider && TestVideo.Color(first.image.bitmap) == .green)
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        #expect(await fixture.diskEntries() == 1)
        fixture.pipeline.configuration.cache.clearMemory()
        let second = try await fixture.pipeline.response(for: request)
        #expect(second.origin == .disk && TestVideo.Color(second.image.bitmap) == .green)
    }

    @Test func aFileThatHasChangedIsAnotherImage() async throws {
        let fixture = PipelineFixture()
        let file = try TestVideo.write(to: "a.webm", in: folder)
        let request = ImageRequest(.provider(VideoFrame(file)))
        let before = VideoFrame(file).cacheKey
        #expect(TestVideo.Color(try await fixture.pipeline.image(for: request).bitmap) == .red)
        _ = try TestVideo.write(
            "videotestsrc pattern=solid-color foreground-color=0xff0000ff num-buffers=5", TestVideo.webM,
            to: "a.webm",
            in: folder)
        #expect(TestVideo.Color(try await fixture.pipeline.image(for: request).bitmap) == .blue)
        #expect(VideoFrame(file).cacheKey != before)
    }

    @Test func allThatChangesTheImageIsInItsKey() throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        let keys = [
            VideoFrame(file), VideoFrame(file, at: .seconds(1)), VideoFrame(file, at: .fraction(1)),
            VideoFrame(file, at: .time(.nanoseconds(1))), VideoFrame(file, at: .fraction(0.1)),
            VideoFrame(file, choice: .exact), VideoFrame(file, maximumSize: PixelSize(5, 5)),
            VideoFrame(try TestVideo.write(to: "b.webm", in: folder)),
        ].map(\.cacheKey)
        #expect(Set(keys).count == keys.count)
        #expect(VideoFrame(file, at: .seconds(-1)).cacheKey == VideoFrame(file).cacheKey)
        #expect(VideoFrame(file, timeLimit: .seconds(1), limits: DecodeLimits(maximumSide: 9)).cacheKey == keys[0])
    }

    @Test func urlsOfVideosAreReadByAConfiguredProvider() async throws {
        let fixture = PipelineFixture { configuration in
            configuration.providers = [
                { $0.isFileURL && $0.pathExtension == "webm" ? VideoFrame($0, at: .fraction(0.9)) : nil }
            ]
        }
        let file = try TestVideo.write(to: "a.webm", in: folder)
        #expect(TestVideo.Color(try await fixture.pipeline.image(for: ImageRequest(file)).bitmap) == .blue)
    }

    @Test func aLoadFailsWithTheReason() async throws {
        let fixture = PipelineFixture()
        let file = try TestVideo.write(
            Data(
                "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:9,\nhttp://127.0.0.1/a.ts\n#EXT-X-ENDLIST\n"
                    .utf8),
            to: "a.mp4", in: folder)
        do {
            _ = try await fixture.pipeline.image(for: ImageRequest(.provider(VideoFrame(file))))
            Issue.record("a playlist is no image")
        } catch let ImagePipelineError.badSource(source, reason, underlying) {
            #expect(source == file.absoluteString)
            #expect(reason == "it is not a video: it is application/x-hls")
            #expect(underlying as? VideoFrameError == .notAVideo("application/x-hls"))
        }
        #expect(await fixture.diskEntries() == 0)
    }

    @Test func manyFramesAtOnce() async throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        let budget = DecodeBudget(capacity: 1_000_000)
        let colors = try await withThrowingTaskGroup(of: (Int, TestVideo.Color).self) { group in
            for index in 0..<24 {
                group.addTask {
                    var frame = VideoFrame(file, at: .seconds(Double(index) / 4 + 0.01), choice: .exact)
                    frame.budget = budget
                    return (index, TestVideo.Color(try await frame.image().bitmap))
                }
            }
            return try await group.reduce(into: [Int: TestVideo.Color]()) { $0[$1.0] = $1.1 }
        }
        for index in 0..<24 { #expect(colors[index] == [.red, .green, .blue][index / 8], "\(index)") }
        #expect(budget.available == budget.capacity)
    }

    @Test func readingThatTakesTooLongEnds() async throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        for limit: Duration in [.zero, .seconds(-1)] {
            await #expect(throws: VideoFrameError.timedOut(limit)) {
                try await VideoFrame(file, timeLimit: limit).image()
            }
        }
    }

    @Test func aCancelledFrameWaitsForNothing() async throws {
        let file = try TestVideo.write(to: "a.webm", in: folder)
        var frame = VideoFrame(file)
        let budget = DecodeBudget(capacity: 1_000_000)
        frame.budget = budget
        let hold = try #require(budget.bytes.holdNow(budget.capacity))
        let task = Task { [frame] in try await frame.image() }
        while budget.bytes.waitingCount == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(budget.bytes.waitingCount == 0)
        withExtendedLifetime(hold) {}
    }

    /// Only those load GStreamer at their start that import the module.
    @Test func otherProgramsDoNotLinkGStreamer() throws {
        let tool = try Spawn.builtExecutable("halcyon")
        let bytes = try Data(contentsOf: tool, options: .alwaysMapped)
        #expect(bytes.firstRange(of: Data("libcurl".utf8)) != nil)
        #expect(bytes.firstRange(of: Data("libgstreamer".utf8)) == nil)
    }
}
