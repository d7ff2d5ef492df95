import HalcyonCache
import HalcyonSystem
import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// The effects of an application's life cycle on a pipeline.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ApplicationTests {
    /// An application that ends as soon as it has begun.
    @MainActor private final class Application {
        let pointer: UnsafeMutablePointer<GApplication>

        init() throws {
            pointer = try #require(g_application_new("org.halcyon.test", G_APPLICATION_NON_UNIQUE))
            on("activate") {}
        }

        func on(_ signal: String, _ body: @escaping @MainActor () -> Void) { _ = Signal(pointer, signal, body) }

        func run() { #expect(g_application_run(pointer, 0, nil) == 0) }

        isolated deinit { g_object_unref(pointer) }
    }

    /// A pipeline whose disk writes are held until the test releases them.
    private func held() async throws -> (FaultInjectingFileSystem, PipelineFixture, DiskCache) {
        let files = FaultInjectingFileSystem()
        let folder = PipelineFixture.temporaryFolder()
        let disk = DiskCache(folder: folder, fileSystem: files)
        let fixture = PipelineFixture(folder: folder) { $0.cache = ImageCache(disk: disk) }
        files.hold(.write)
        for number in 0..<50 { await disk.stage(Data(count: 64 << 10), for: CacheKey("\(number)".utf8)) }
        return (files, fixture, disk)
    }

    @Test func stagedEntriesAreWrittenBeforeApplicationEnds() async throws {
        let (files, fixture, disk) = try await held()
        let application = try Application()
        application.on("shutdown") { files.release(.write) }
        GTKApplication.follow(application.pointer, pipeline: fixture.pipeline, shutdownWithin: .seconds(60))
        #expect(disk.statistics.stagedBytes > 0)
        application.run()
        #expect(disk.statistics.stagedBytes == 0)
        #expect(await DiskCache(folder: disk.folder).count() == 50)
    }

    @Test func aDiskThatHangsDelaysTheEndNoLongerThanItMay() async throws {
        let (files, fixture, disk) = try await held()
        let application = try Application()
        GTKApplication.follow(application.pointer, pipeline: fixture.pipeline, shutdownWithin: .milliseconds(50))
        application.run()
        #expect(disk.statistics.stagedBytes > 0)
        files.release(.write)
        await disk.flush()
    }

    // MARK: - Windows

    @Test func minimizingWindowRemovesExpiredImages() async throws {
        try Window.requireScreen()
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let cache = fixture.pipeline.cache
        let image = try Colors.image(Colors.red, 4, 4)
        for (key, expiration) in [("goes", StorageExpiration.seconds(10)), ("stays", .never)] {
            try await cache.store(image, original: image.data(as: .png), for: key, expiration: expiration)
        }
        let application = try #require(gtk_application_new("org.halcyon.test", G_APPLICATION_NON_UNIQUE))
        defer { g_object_unref(application) }
        g_application_register(
            UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self), nil, nil)
        // One that is there already, and one that comes.
        let windows = [try Window(gtk_label_new("")), try Window(gtk_label_new(""))]
        gtk_application_add_window(application, windows[0].pointer)
        GTKApplication.follow(application, pipeline: fixture.pipeline)
        gtk_application_add_window(application, windows[1].pointer)
        clock.advance(by: .seconds(11))
        for window in windows {
            window.show()
            await Window.run { window.isMapped }
            #expect(cache.memoryStatistics.count == 2)
            try window.minimize()
            await Window.run { cache.memoryStatistics.count == 1 }
            #expect(cache.image(inMemoryFor: "stays") != nil)
            try await cache.store(image, original: image.data(as: .png), for: "goes", expiration: .seconds(10))
            clock.advance(by: .seconds(11))
        }
        for window in windows { window.close() }
    }

    /// Wayland does not tell a window that it is minimised.
    @Test func aSuspendedWindowCountsAsMinimized() {
        let suspended: UInt32 = 1 << 16
        #expect(MinimizedWindows.isAway(suspended))
        #expect(MinimizedWindows.isAway(GDK_TOPLEVEL_STATE_MINIMIZED.rawValue))
        #expect(MinimizedWindows.isAway(suspended | GDK_TOPLEVEL_STATE_MAXIMIZED.rawValue))
        for bit in 1..<16 { #expect(!MinimizedWindows.isAway(1 << UInt32(bit)), "\(bit)") }
        #expect(!MinimizedWindows.isAway(0))
    }

    // MARK: - Memory

    @Test func levelsAreSteps() {
        let steps: [(Int32, MemoryPressure)] = [
            (0, .warning), (50, .warning), (99, .warning), (100, .high), (254, .high), (255, .critical),
        ]
        for (level, step) in steps { #expect(GIOMemoryPressure.step(level) == step, "\(level)") }
    }

    @Test func lowMemoryTakesImagesOutOfTheMemory() async throws {
        let fixture = PipelineFixture { $0.cache = ImageCache(disk: nil, memoryPressure: nil) }
        let url = try fixture.serve("png/rgb8.png")
        var application: Application? = try Application()
        let subscribers = GIOMemoryPressure.shared.subscriberCount
        GTKApplication.follow(try #require(application).pointer, pipeline: fixture.pipeline)
        _ = try await fixture.pipeline.image(for: url)
        #expect(fixture.pipeline.cache.memoryStatistics.count == 1)
        let frames = try Greys.image(64, frames: 12, each: .seconds(3600))
        let player = try #require(AnimatedImagePlayer(frames))
        player.play()
        await Window.run {
            player.advance(to: .zero)
            return FramePool.shared.keptBytes >= 5 * 64 * 64 * 4
        }
        let kept = FramePool.shared.keptBytes
        try Emission.lowMemory(255)
        await Window.run { fixture.pipeline.cache.memoryStatistics.count == 0 }
        await Window.run { FramePool.shared.keptBytes < kept }
        // Nothing of it stays.
        #expect(GIOMemoryPressure.shared.subscriberCount == subscribers + 1)
        application = nil
        #expect(GIOMemoryPressure.shared.subscriberCount == subscribers)
    }

    @Test func aCacheHearsOfLowMemoryByItself() async throws {
        let fixture = PipelineFixture {
            $0.cache = ImageCache(disk: nil, memoryPressure: GIOMemoryPressure.shared)
        }
        _ = try await fixture.pipeline.image(for: fixture.serve("png/rgb8.png"))
        let steps = Lock<[MemoryPressure]>([])
        let subscription = GIOMemoryPressure.shared.subscribe { step in steps.withLock { $0.append(step) } }
        for level: Int32 in [50, 100, 255] { try Emission.lowMemory(level) }
        await Window.run { steps.withLock { $0.count } == 3 }
        #expect(steps.withLock { $0 } == [.warning, .high, .critical])
        await Window.run { fixture.pipeline.cache.memoryStatistics.count == 0 }
        subscription.cancel()
    }

    // MARK: - The network

    @Test func waitingLoadResumesWhenNetworkReturns() async throws {
        let monitor = GIONetworkMonitor.shared
        let transport = ScriptedTransport()
        let fixture = PipelineFixture { configuration in
            var download = ImageDownloader.Configuration(transport: transport)
            download.networkMonitor = monitor
            download.retry = RetryPolicy(maximumRetries: 0, networkWait: .seconds(3600))
            configuration.downloader = ImageDownloader(download)
        }
        let url = PipelineFixture.url("a.png")
        transport.answer(
            url, with: .failure(DownloadError(.offline, url: url)), .data(try TestFiles.data("png/rgb8.png")))
        try Emission.network(isOnline: false)
        #expect(await !monitor.status.isOnline)
        let load = fixture.pipeline.task(for: ImageRequest(url))
        await Window.run { monitor.waiterCount == 1 }
        #expect(transport.requestCount == 1)
        try Emission.network(isOnline: true)
        #expect(try await load.response.image.size == PixelSize(48, 32))
        #expect(await monitor.status.isOnline && monitor.waiterCount == 0)
        #expect(try await monitor.waitForNetwork(limit: .zero))
    }

    @Test func aWaitHasALimitAndCanBeCalledOff() async throws {
        let clock = ManualClock()
        let monitor = GIONetworkMonitor(time: clock.timeSource)
        try Emission.network(isOnline: false)
        let late = Task { try await monitor.waitForNetwork(limit: .seconds(5)) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(try await !late.value)
        let cancelled = Task { try await monitor.waitForNetwork(limit: .seconds(5)) }
        await Window.run { monitor.waiterCount == 1 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        #expect(monitor.waiterCount == 0)
        try Emission.network(isOnline: true)
    }

    @Test func failuresAreForgottenWhenTheNetworkIsBack() async throws {
        let fixture = PipelineFixture()
        let application = try Application()
        GTKApplication.follow(application.pointer, pipeline: fixture.pipeline)
        await #expect(throws: ImagePipelineError.self) {
            _ = try await fixture.pipeline.image(for: PipelineFixture.url("none.png"))
        }
        try Emission.network(isOnline: true)
        #expect(fixture.pipeline.rememberedFailureCount == 1)
        try Emission.network(isOnline: false)
        #expect(fixture.pipeline.rememberedFailureCount == 1)
        try Emission.network(isOnline: true)
        #expect(fixture.pipeline.rememberedFailureCount == 0)
        withExtendedLifetime(application) {}
    }
}
