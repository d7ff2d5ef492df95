import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Loads that differ in what they keep or show do not take each other's settings.
@Suite(.timeLimit(.minutes(5)))
struct LoadKeyTests {
    /// A serializer that keeps nothing and counts its calls; it cannot be compared.
    private struct CountingSerializer: CacheSerializer {
        let asked: Counter

        func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
            asked.increment()
            return nil
        }
    }

    /// The same as an object.
    private final class SerializerObject: CacheSerializer {
        let asked = Counter()

        func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
            asked.increment()
            return nil
        }
    }

    private func load(_ serializers: [any CacheSerializer]) async throws -> Int {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let runs = Counter()
        let tasks = serializers.map { serializer in
            var request = ImageRequest(
                url, processors: [CountingProcessor("one", runs: runs)], cachePolicy: .storeProcessed)
            request.serializer = serializer
            return fixture.pipeline.task(for: request)
        }
        while await !fixture.pipeline.isWaitingForBytes(tasks.count) { await Task.yield() }
        try await fixture.transport.waitForRequests(1)
        gate.open()
        for task in tasks { _ = try await task.response }
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        return runs.value
    }

    @Test func twoSerializersShareNoLoad() async throws {
        let (one, two) = (Counter(), Counter())
        let runs = try await load([CountingSerializer(asked: one), CountingSerializer(asked: two)])
        #expect(runs == 2)
    }

    @Test func theSameSerializerSharesItsWork() async throws {
        let asked = Counter()
        let same = CountingSerializer(asked: asked)
        #expect(try await load([same, same, CountingSerializer(asked: asked)]) == 1)
        #expect(asked.value == 1)
        let object = SerializerObject()
        #expect(try await load([object, object]) == 1)
        #expect(try await load([object, SerializerObject()]) == 2)
    }

    @Test func comparableOnesShareByTheirValue() async throws {
        typealias Fixed = FixedFormatCacheSerializer
        #expect(try await load([Fixed.jpeg(quality: 0.5), Fixed.jpeg(quality: 0.5)]) == 1)
        #expect(try await load([Fixed.jpeg(quality: 0.5), Fixed.jpeg(quality: 0.6)]) == 2)
        // A quality that no encoder takes keeps nothing on the disk, and is one key as well.
        #expect(try await load([Fixed.jpeg(quality: .nan), Fixed.jpeg(quality: .nan)]) == 1)
        #expect(try await load([DefaultCacheSerializer(), DefaultCacheSerializer()]) == 1)
        #expect(try await load([DefaultCacheSerializer(), Fixed.png]) == 2)
    }

    /// The first load wants some previews, the second wants all of them.
    @Test func aLoadThatWantsEveryPreviewGetsThem() async throws {
        let fixture = PipelineFixture(clock: ManualClock().timeSource) { $0.coders = .standard() }
        let url = PipelineFixture.url("scans")
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let (gate, parts) = (ScriptedTransportGate(), Counter())
        // The bytes do not double any more, and no time passes: only a load that wants every part is shown the last ones.
        let (half, rest) = (data.count * 2 / 3, data.count - 20)
        let last = ScriptedTransportGate()
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [
                    .chunk(data.prefix(half)), .wait(gate), .chunk(data[half..<rest]), .wait(last),
                    .chunk(data.dropFirst(rest)),
                ]))
        var some = ImageRequest(url)
        some.wantsPreviews = true
        var every = some
        every.wantsEveryPreview = true
        let first = fixture.pipeline.task(for: some)
        try await fixture.transport.waitForRequests(1)
        let second = fixture.pipeline.task(for: every)
        for try await event in second.events {
            guard case .preview = event else { continue }
            parts.increment()
            if parts.value == 1 { gate.open() }
            if parts.value == 2 { break }
        }
        #expect(parts.value == 2)
        last.open()
        _ = try await first.response
        _ = try await second.response
        #expect(fixture.transport.requestCount == 1)
    }
}
