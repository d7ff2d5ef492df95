import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The entries that the memory level keeps, and those that are found though it does not keep them.
@Suite(.timeLimit(.minutes(5)))
struct ImageMemoryTests {
    private let pressure = ManualMemoryPressure()

    private func image(_ file: String = "png/rgb8.png") throws -> Image {
        try Image(data: try TestFiles.data(file))
    }

    /// With room for ten of them, each one different.
    private func filled() async throws -> ImageCache {
        let cost = try image().cost
        let cache = ImageCache(
            memory: MemoryCacheConfiguration(costLimit: cost * 10), disk: nil, memoryPressure: pressure)
        for number in 0..<10 { try await cache.store(try image(), for: "\(number)") }
        return cache
    }

    @Test func pressureIsAnsweredInThreeSteps() async throws {
        let cache = try await filled()
        #expect(cache.memoryStatistics.count == 10)
        pressure.send(.warning)
        #expect(cache.memoryStatistics.count == 5)
        pressure.send(.high)
        #expect(cache.memoryStatistics.count <= 1)
        pressure.send(.critical)
        #expect(cache.memoryStatistics.count == 0)
    }

    @Test func theSubscriptionEndsWithTheCache() async throws {
        var cache: ImageCache? = try await filled()
        #expect(pressure.subscriberCount == 1)
        withExtendedLifetime(cache) {}
        cache = nil
        #expect(pressure.subscriberCount == 0)
    }

    @Test(arguments: ["png/rgb8.png", "animation/keep.gif"])
    func imageOnScreenIsFoundAfterEviction(file: String) async throws {
        let onScreen = try image(file)
        let cache = ImageCache(
            memory: MemoryCacheConfiguration(costLimit: onScreen.cost * 3), disk: nil, memoryPressure: pressure)
        try await cache.store(onScreen, for: "shown")
        pressure.send(.critical)
        #expect(cache.image(inMemoryFor: "shown")?.bitmap === onScreen.bitmap)
        // Driven out by others.
        for number in 0..<20 { try await cache.store(try image(file), for: "\(number)") }
        let found = try #require(cache.image(inMemoryFor: "shown"))
        #expect(found.bitmap === onScreen.bitmap)
        #expect(found.animation?.durations == onScreen.animation?.durations)
        #expect(cache.image(inMemoryFor: "0") == nil)
        // A user's clear is meant for all.
        cache.clearMemory()
        #expect(cache.image(inMemoryFor: "shown") == nil)
        withExtendedLifetime(onScreen) {}
    }

    @Test func onlyAnImageInUseLeavesAReference() async throws {
        let cache = try await filled()
        let onScreen = try #require(cache.image(inMemoryFor: "3"))
        pressure.send(.critical)
        #expect(cache.memoryStatistics.weakCount == 1)
        #expect(cache.image(inMemoryFor: "3")?.bitmap === onScreen.bitmap)
        #expect(cache.image(inMemoryFor: "4") == nil)
        #expect(cache.memoryStatistics.weakCount == 0)
    }

    @Test func aRemovedImageIsNotFoundThoughItIsOnScreen() async throws {
        let cache = try await filled()
        let onScreen = try #require(cache.image(inMemoryFor: "3"))
        pressure.send(.critical)
        await cache.remove("3", from: .memory)
        #expect(cache.image(inMemoryFor: "3") == nil)
        withExtendedLifetime(onScreen) {}
    }

    @Test func memoryIsTrimmedToAFraction() async throws {
        let cache = try await filled()
        cache.trimMemory(toFraction: 0.3)
        #expect(cache.memoryStatistics.count == 3)
        #expect(cache.memoryStatistics.cost == (try image().cost) * 3)
    }

    @Test func theTimeAfterTheLastAccessFreesMemoryAndNotTheScreen() async throws {
        let clock = ManualClock()
        let cache = ImageCache(disk: nil, clock: clock.timeSource, memoryPressure: nil)
        let onScreen = try image()
        try await cache.store(onScreen, for: "shown")
        try await cache.store(try image(), for: "gone")
        clock.advance(by: .seconds(301))
        await cache.removeExpired()
        #expect(cache.memoryStatistics.count == 0)
        #expect(cache.image(inMemoryFor: "gone") == nil)
        #expect(cache.image(inMemoryFor: "shown")?.bitmap === onScreen.bitmap)
        withExtendedLifetime(onScreen) {}
    }
}
