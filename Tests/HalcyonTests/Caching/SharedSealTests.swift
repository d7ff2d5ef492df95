import Foundation
import Halcyon
import HalcyonCache
import HalcyonTesting
import TestSupport
import Testing

/// The encodings that machines have on their disks and in their store, when the store loses what they agreed on.
@Suite(.timeLimit(.minutes(5)))
struct SharedSealTests {
    private let store = MemoryCacheStore(claimWait: .seconds(300))
    private let transport = ScriptedTransport()

    private func machine(disk: Bool = true) -> PipelineFixture {
        PipelineFixture(disk: disk, transport: transport, stores: [store])
    }

    private func settle(_ machine: PipelineFixture) async {
        await machine.pipeline.shutdown(within: .seconds(300))
        machine.pipeline.cache.clearMemory()
    }

    private func serve(_ machine: PipelineFixture) throws -> URL {
        try machine.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=600"])
    }

    private static func request(_ url: URL, side: Int) -> ImageRequest {
        ImageRequest(url, processors: [.resize(to: PixelSize(side, side), mode: .fill)])
    }

    private func encode(_ request: ImageRequest, on machine: PipelineFixture) async throws -> EncodedImage {
        let image = try await machine.pipeline.encodedImage(for: request, as: .png)
        await settle(machine)
        return image
    }

    private func kept(_ request: ImageRequest, on machine: PipelineFixture) async -> EncodedImage? {
        let image = await machine.pipeline.cachedEncodedImage(for: request, as: .png)
        await settle(machine)
        return image
    }

    @Test func aStoreThatBeginsAgainEmptyCostsNoEncodingOfTheDisks() async throws {
        let (first, second) = (machine(), machine())
        let url = try serve(first)
        let (small, large) = (Self.request(url, side: 8), Self.request(url, side: 16))
        let made = try await encode(small, on: first)
        store.isReachable = false
        _ = try await encode(small, on: second)
        store.isReachable = true
        for side in 20..<23 {
            await store.clear()
            // The first machine makes another seal, and the second one meets it.
            _ = try await encode(Self.request(url, side: side), on: first)
            _ = try await encode(Self.request(url, side: side), on: second)
            #expect(await kept(small, on: first)?.data == made.data)
            #expect(await kept(small, on: second)?.data == made.data)
            #expect(await kept(large, on: second) == nil)
        }
        // All of them agree on the seal.
        let third = machine()
        #expect(await kept(Self.request(url, side: 22), on: third) != nil)
        #expect(await kept(small, on: third) == nil)
    }

    @Test func aRemovalTakesTheFormerSealsOfItsMachine() async throws {
        let first = machine()
        let url = try serve(first)
        let small = Self.request(url, side: 8)
        _ = try await encode(small, on: first)
        await store.clear()
        _ = try await encode(Self.request(url, side: 16), on: first)
        #expect(await kept(small, on: first) != nil)
        await first.pipeline.cache.remove(url)
        _ = try await encode(Self.request(url, side: 20), on: first)
        #expect(await kept(small, on: first) == nil)
    }

    /// An entry of the store under a former seal may have been removed by another machine.
    @Test func inTheStoreThePresentSealAloneCounts() async throws {
        let (first, second) = (machine(), machine())
        let url = try serve(first)
        let (small, large) = (Self.request(url, side: 8), Self.request(url, side: 16))
        _ = try await encode(large, on: second)
        _ = try await encode(small, on: first)
        await first.pipeline.cache.remove(url)
        // The second machine makes a new seal. The encoding is in the store, and not on its disk.
        _ = try await encode(Self.request(url, side: 20), on: second)
        #expect(await kept(small, on: second) == nil)
        #expect(await kept(small, on: second) == nil)
        #expect(await kept(large, on: second) != nil)
    }

    @Test func machinesWithoutDisksBringNothingBackThatOneOfThemHasRemoved() async throws {
        let (first, second) = (machine(disk: false), machine(disk: false))
        let url = try serve(first)
        let small = Self.request(url, side: 8)
        _ = try await encode(small, on: first)
        #expect(await kept(small, on: second) != nil)
        await second.pipeline.cache.remove(url)
        _ = try await encode(Self.request(url, side: 16), on: first)
        #expect(await kept(small, on: first) == nil)
        #expect(await kept(small, on: second) == nil)
    }
}
