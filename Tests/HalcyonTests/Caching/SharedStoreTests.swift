import Foundation
import Halcyon
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Several pipelines, each with a disk of its own, that share a store as the machines of a fleet do.
@Suite(.timeLimit(.minutes(5)))
struct SharedStoreTests {
    /// A machine that does much else takes its time.
    private let store = MemoryCacheStore(claimWait: .seconds(300))
    private let transport = ScriptedTransport()
    private static let fresh: HTTPHeaders = ["Cache-Control": "max-age=600"]

    private func machine(
        disk: Bool = true, clock: TimeSource = .system,
        configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) -> PipelineFixture {
        PipelineFixture(disk: disk, clock: clock, transport: transport, stores: [store], configure: configure)
    }

    private func settle(_ machine: PipelineFixture) async {
        await machine.pipeline.shutdown(within: .seconds(300))
        machine.pipeline.cache.clearMemory()
    }

    /// Replaces the bytes of the only entry of the store by others that are no image. Returns its key and the former bytes.
    private func spoil() async throws -> (key: CacheKey, data: Data) {
        let key = try #require(store.keys.first)
        let entry = try #require(await store.entry(for: key))
        try await store.store(
            Data("no image".utf8), metadata: entry.metadata, extended: Data(), for: key, expiration: .never)
        return (key, entry.data)
    }

    // MARK: - Looking

    @Test func bytesThatOneMachineFetchedAreThereForTheOthers() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        let original = try await first.pipeline.response(for: url)
        await settle(first)
        let shared = try await second.pipeline.response(for: url)
        #expect(shared.origin == .disk)
        #expect(shared.image.bitmap.pixel(x: 3, y: 5)! == original.image.bitmap.pixel(x: 3, y: 5)!)
        #expect(transport.requestCount == 1)
        // The disk has them now: the store is not asked again.
        await settle(second)
        let lookUps = store.lookUpCount
        #expect(try await second.pipeline.response(for: url).origin == .disk)
        #expect(store.lookUpCount == lookUps)
    }

    @Test func encodingsAreMadeOnce() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        let made = try await first.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        await settle(first)
        let shared = try await second.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        #expect(shared.data == made.data)
        #expect(shared.origin == .disk)
        #expect(second.decodes.value == 0)
        #expect(transport.requestCount == 1)
    }

    @Test func aStoreIsEnoughWithoutADisk() async throws {
        let (first, second) = (machine(disk: false), machine(disk: false))
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        _ = try await first.pipeline.encodedImage(for: request, as: .png)
        await settle(first)
        #expect(await second.pipeline.cache.cachedLevel(for: url) == .diskOriginal)
        #expect(try await second.pipeline.encodedImage(for: request, as: .png).origin == .disk)
        #expect(try await second.pipeline.response(for: url).origin == .disk)
        #expect(transport.requestCount == 1)
    }

    @Test func theAnswersToOneUserStayOnTheirMachine() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: ["Cache-Control": "private, max-age=600"])
        var request = ImageRequest(url)
        request.network.headers = ["Authorization": "Bearer token"]
        _ = try await first.pipeline.response(for: request)
        _ = try await first.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        await settle(first)
        #expect(await first.diskEntries() > 0)
        #expect(store.keys.isEmpty)
        _ = try await second.pipeline.response(for: request)
        #expect(transport.requestCount == 2)
    }

    /// A store that several machines share is a shared cache, also for requests without a credential.
    @Test func aPrivateAnswerStaysOnItsMachineAndTakesTheFormerOneOutOfTheStore() async throws {
        let first = machine()
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        _ = try await first.pipeline.encodedImage(for: request, as: .png)
        await settle(first)
        let shared = store.keys.count
        try first.serve("png/rgb8.png", headers: ["Cache-Control": "private, max-age=600"])
        var again = request
        again.cachePolicy = .reload
        _ = try await first.pipeline.encodedImage(for: again, as: .png)
        await settle(first)
        #expect(shared == 3)
        // The seal says nothing of the answer.
        #expect(store.keys.count == 1)
        #expect(await first.diskEntries() == 3)
    }

    @Test func encodingsAreSharedAlsoIfTheirSourceWasFirstSeenWithoutTheStore() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        store.isReachable = false
        _ = try await first.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        await settle(first)
        store.isReachable = true
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        _ = try await first.pipeline.encodedImage(for: request, as: .png)
        await settle(first)
        #expect(try await second.pipeline.encodedImage(for: request, as: .png).origin == .disk)
        #expect(second.decodes.value == 0)
    }

    @Test func bytesInTheStoreThatAreNoImageAreFetchedAnew() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        _ = try await first.pipeline.response(for: url)
        await settle(first)
        let (key, data) = try await spoil()
        #expect(try await second.pipeline.response(for: url).origin == .network)
        await settle(second)
        #expect(await store.entry(for: key)?.data == data)
    }

    /// The same name may be that of another picture on another machine.
    @Test func imagesOfFilesStayOnTheirMachine() async throws {
        let first = machine()
        var request = ImageRequest(
            .file(TestFiles.url("png/rgb8.png")), processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        request.cachePolicy = .storeProcessed
        _ = try await first.pipeline.response(for: request)
        _ = try await first.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        await settle(first)
        #expect(await first.diskEntries() > 0)
        #expect(store.keys.isEmpty)
        #expect(store.lookUpCount == 0)
    }

    // MARK: - Failing

    @Test func aStoreThatCannotBeReachedIsNoStore() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        store.isReachable = false
        _ = try await first.pipeline.response(for: url)
        await settle(first)
        #expect(try await first.pipeline.response(for: url).origin == .disk)
        #expect(try await second.pipeline.response(for: url).origin == .network)
        #expect(transport.requestCount == 2)
    }

    // MARK: - Freshness and removals

    @Test func aMachineWithStaleBytesTakesThoseThatAnotherHasRenewed() async throws {
        let clock = ManualClock()
        let (first, second) = (machine(clock: clock.timeSource), machine(clock: clock.timeSource))
        let url = try first.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        _ = try await first.pipeline.response(for: url)
        await settle(first)
        _ = try await second.pipeline.response(for: url)
        await settle(second)
        clock.advance(by: .seconds(61))
        transport.answer(url, with: .status(304, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
        #expect(try await first.pipeline.response(for: url).origin == .revalidated)
        await settle(first)
        #expect(try await second.pipeline.response(for: url).origin == .disk)
        #expect(transport.requestCount == 2)
    }

    @Test func aRemovalReachesTheStore() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        _ = try await first.pipeline.encodedImage(for: request, as: .png)
        await settle(first)
        await first.pipeline.cache.remove(url)
        #expect(try await second.pipeline.encodedImage(for: request, as: .png).origin == .network)
        await settle(second)
        await second.pipeline.cache.clearDisk()
        #expect(store.keys.isEmpty)
    }

    @Test func aLookUpThatARemovalOvertakesLeavesNothingOnTheDisk() async throws {
        let slow = SlowStore(store, holding: .lookUps)
        let url = Self.url
        let writer = machine()
        try writer.serve("png/rgb8.png", headers: Self.fresh)
        _ = try await writer.pipeline.response(for: url)
        await settle(writer)
        let reader = PipelineFixture(transport: transport, stores: [slow])
        let load = Task { try await reader.pipeline.response(for: url) }
        try await slow.isAsked.wait()
        await reader.pipeline.cache.remove(url)
        slow.mayAnswer.open()
        _ = try await load.value
        await reader.pipeline.cache.disk?.flush()
        #expect(await reader.diskEntries() == 0)
    }

    @Test func aLookUpDuringARemovalLeavesNothingInTheCaches() async throws {
        let slow = SlowStore(store, holding: .removals)
        let (url, writer) = (Self.url, machine())
        try writer.serve("png/rgb8.png", headers: Self.fresh)
        _ = try await writer.pipeline.response(for: url)
        await settle(writer)
        let reader = PipelineFixture(transport: transport, stores: [slow])
        let removal = Task { await reader.pipeline.cache.remove(url) }
        try await slow.isAsked.wait()
        #expect(try await reader.pipeline.response(for: url).origin == .disk)
        slow.mayAnswer.open()
        await removal.value
        #expect(reader.pipeline.cache.image(inMemoryFor: url) == nil)
        #expect(await reader.diskEntries() == 0)
    }

    /// The second machine has the seal of the source on its disk when the first removes it.
    @Test func encodingsThatWereRemovedDoNotComeBackWithThoseOfAnotherMachine() async throws {
        let (first, second) = (machine(), machine())
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        let other = ImageRequest(url, processors: [.resize(to: PixelSize(8, 8), mode: .fill)])
        _ = try await first.pipeline.encodedImage(for: request, as: .png)
        await settle(first)
        #expect(try await second.pipeline.encodedImage(for: request, as: .png).origin == .disk)
        await settle(second)
        await first.pipeline.cache.remove(url)
        _ = try await second.pipeline.encodedImage(for: other, as: .png)
        await settle(second)
        let decodes = first.decodes.value
        _ = try await first.pipeline.encodedImage(for: request, as: .png)
        #expect(first.decodes.value == decodes + 1)
        await settle(first)
        // The machines agree again.
        #expect(try await machine().pipeline.encodedImage(for: request, as: .png).origin == .disk)
    }

    @Test func aRemovalWaitsForWhatIsOnItsWayToTheStore() async throws {
        let slow = SlowStore(store, holding: .stores)
        let url = Self.url
        let fixture = PipelineFixture(transport: transport, stores: [slow])
        try fixture.serve("png/rgb8.png", headers: Self.fresh)
        _ = try await fixture.pipeline.response(for: url)
        try await slow.isAsked.wait()
        let removal = Task { await fixture.pipeline.cache.remove(url) }
        slow.mayAnswer.open()
        await removal.value
        #expect(store.keys.isEmpty)
        #expect(await fixture.diskEntries() == 0)
    }

    // MARK: - A store that is slow

    @Test func aStoreThatIsSlowDelaysNoRevalidation() async throws {
        let clock = ManualClock()
        let slow = SlowStore(store, holding: .updates)
        let fixture = PipelineFixture(clock: clock.timeSource, transport: transport, stores: [slow])
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        _ = try await fixture.pipeline.response(for: url)
        await settle(fixture)
        clock.advance(by: .seconds(61))
        transport.answer(url, with: .status(304, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
        #expect(try await fixture.pipeline.response(for: url).origin == .revalidated)
        try await slow.isAsked.wait()
        slow.mayAnswer.open()
        await settle(fixture)
        let key = try #require(store.keys.first)
        #expect(await store.entry(for: key)?.metadata == fixture.pipeline.cache.storedOriginal(for: url)?.metadata)
    }

    @Test func aStoreThatIsSlowDelaysNoLoadOfBadBytes() async throws {
        let (first, slow) = (machine(), SlowStore(store, holding: .removals))
        let second = PipelineFixture(transport: transport, stores: [slow])
        let url = try first.serve("png/rgb8.png", headers: Self.fresh)
        _ = try await first.pipeline.response(for: url)
        await settle(first)
        let (key, data) = try await spoil()
        #expect(try await second.pipeline.response(for: url).origin == .network)
        slow.mayAnswer.open()
        await settle(second)
        #expect(await store.entry(for: key)?.data == data)
    }

    @Test func aStoreThatIsSlowDelaysNoWriteToTheDisk() async throws {
        let slow = SlowStore(store, holding: .stores)
        let fixture = PipelineFixture(transport: transport, stores: [slow])
        let url = try fixture.serve("png/rgb8.png", headers: Self.fresh)
        var request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        request.cachePolicy = .storeProcessed
        request.cachePolicy.waitsForStore = true
        _ = try await fixture.pipeline.response(for: request)
        #expect(await fixture.diskEntries() == 2)
        slow.mayAnswer.open()
        await settle(fixture)
        #expect(store.keys.count == 2)
    }

    private static let url = PipelineFixture.url("png/rgb8.png")

    // MARK: - Claims

    @Test func oneMachineFetchesAndTheOthersWait() async throws {
        let (first, second, third) = (machine(), machine(), machine())
        let gate = ScriptedTransportGate()
        let url = try first.serve("png/rgb8.png", headers: Self.fresh, gate: gate)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        let other = ImageRequest(url, processors: [.resize(to: PixelSize(8, 8), mode: .fill)])
        let loads = [
            Task { try await first.pipeline.encodedImage(for: request, as: .png) },
            Task { try await second.pipeline.encodedImage(for: request, as: .png) },
            Task { try await third.pipeline.encodedImage(for: other, as: .png) },
        ]
        try await transport.waitForRequests(1)
        // One of the first two waits for the encoding, and one of the others for the bytes.
        try await store.waitForWaiters(2)
        gate.open()
        for load in loads { _ = try await load.value }
        #expect(transport.requestCount == 1)
        #expect(try await loads[0].value.data == loads[1].value.data)
    }

    @Test func whoHasWaitedInVainFetches() async throws {
        let (first, second) = (machine(), machine())
        let gate = ScriptedTransportGate()
        let url = Self.url
        var failing = ScriptedTransport.Answer.status(404)
        failing.headGate = gate
        transport.answer(url, with: failing, .data(try TestFiles.data("png/rgb8.png"), headers: Self.fresh))
        let failed = Task { try await first.pipeline.response(for: url) }
        try await transport.waitForRequests(1)
        let load = Task { try await second.pipeline.response(for: url) }
        try await store.waitForWaiters(1)
        gate.open()
        await #expect(throws: ImagePipelineError.self) { try await failed.value }
        #expect(try await load.value.origin == .network)
        #expect(transport.requestCount == 2)
    }

    @Test func nobodyWaitsLongerThanTheStoreSays() async throws {
        let clock = ManualClock()
        let store = MemoryCacheStore(time: clock.timeSource, claimWait: .seconds(5))
        let (first, second) = (
            PipelineFixture(transport: transport, stores: [store]),
            PipelineFixture(transport: transport, stores: [store])
        )
        let url = Self.url
        let gate = ScriptedTransportGate()
        var silent = ScriptedTransport.Answer.data(try TestFiles.data("png/rgb8.png"), headers: Self.fresh)
        silent.headGate = gate
        transport.answer(url, with: silent, .data(try TestFiles.data("png/rgb8.png"), headers: Self.fresh))
        let held = Task { try await first.pipeline.response(for: url) }
        try await transport.waitForRequests(1)
        let load = Task { try await second.pipeline.response(for: url) }
        try await store.waitForWaiters(1)
        // The holder's timer has ended with its claim.
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(6))
        #expect(try await load.value.origin == .network)
        gate.open()
        _ = try await held.value
    }

    @Test func aLoadThatIsCancelledWaitsForNobody() async throws {
        let (first, second) = (machine(), machine())
        let gate = ScriptedTransportGate()
        let url = try first.serve("png/rgb8.png", headers: Self.fresh, gate: gate)
        let held = Task { try await first.pipeline.response(for: url) }
        try await transport.waitForRequests(1)
        let load = Task { try await second.pipeline.response(for: url) }
        try await store.waitForWaiters(1)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        gate.open()
        _ = try await held.value
        #expect(transport.requestCount == 1)
        #expect(store.waiterCount == 0)
    }
}

/// A store that lets one kind of calls wait at a gate: look-ups with what they have found, the others before they take effect.
private final class SlowStore: CacheStore {
    enum Calls {
        case lookUps, stores, updates, removals
    }

    let isAsked = ScriptedTransportGate()
    let mayAnswer = ScriptedTransportGate()
    private let store: MemoryCacheStore
    private let held: Calls

    init(_ store: MemoryCacheStore, holding held: Calls) {
        (self.store, self.held) = (store, held)
    }

    private func pause(_ calls: Calls) async {
        guard calls == held else { return }
        isAsked.open()
        try? await mayAnswer.wait()
    }

    func entry(for key: CacheKey) async -> CacheEntry? {
        let entry = await store.entry(for: key)
        if entry != nil { await pause(.lookUps) }
        return entry
    }

    func store(
        _ data: Data, metadata: Data, extended: Data, for key: CacheKey, expiration: StorageExpiration?
    ) async throws {
        await pause(.stores)
        try await store.store(data, metadata: metadata, extended: extended, for: key, expiration: expiration)
    }

    func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?
    ) async throws -> Bool {
        await pause(.updates)
        return try await store.updateMetadata(metadata, for: key, replacing: former, expiration: expiration)
    }

    func remove(_ key: CacheKey) async {
        await pause(.removals)
        await store.remove(key)
    }

    func clear() async { await store.clear() }
}
