import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Lists in real windows, whose images come of a script.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ImageListPrefetcherTests {
    private let fixture: PipelineFixture
    private let png: Data

    init() throws {
        let data = try TestFiles.data("png/rgb8.png")
        png = data
        fixture = PipelineFixture(disk: false, transport: ScriptedTransport { _ in .data(data) })
    }

    /// A visible list, its prefetcher, and the requests of the prefetcher.
    private final class Scene {
        let list: ScrolledList
        private(set) var prefetcher: ImageListPrefetcher?
        var asked: [Int] = []

        @MainActor init(
            _ fixture: PipelineFixture, count: Int = 500, columns: guint? = nil,
            configuration: ImageListPrefetcher.Configuration = .init()
        ) throws {
            list = try ScrolledList(count: count, columns: columns)
            prefetcher = ImageListPrefetcher(list.list, pipeline: fixture.pipeline, configuration: configuration) {
                [unowned self] position in
                asked.append(position)
                return [ImageRequest(PipelineFixture.url(list.name(position)))]
            }
        }

        @MainActor func forget() { prefetcher = nil }
        @MainActor var running: [Int] { prefetcher?.runningPositions ?? [] }
    }

    /// Holds the response of every request from now on.
    private func holdAll(by gate: ScriptedTransportGate = ScriptedTransportGate()) {
        for number in 0..<100 {
            fixture.transport.answer(PipelineFixture.url("\(number)"), with: .data(png).held(by: gate))
        }
    }

    /// A screenful behind what is seen.
    private func ahead(_ list: ScrolledList) throws -> [Int] {
        let visible = try list.visible
        return Array(visible.upperBound..<visible.upperBound + visible.count)
    }

    private var requested: [String] { fixture.transport.requests.map(\.url.lastPathComponent) }

    /// Until all that is ahead has come.
    private func settle(_ scene: Scene, _ expected: @autoclosure () throws -> [Int]) async throws {
        await Window.run {
            guard let expected = try? expected(), !expected.isEmpty else { return false }
            return scene.running.isEmpty && Set(scene.asked).isSuperset(of: expected)
        }
    }

    @Test(arguments: [nil, 4] as [guint?]) func aScreenfulAheadIsLoadedIntoMemory(columns: guint?) async throws {
        let scene = try Scene(fixture, columns: columns)
        #expect(scene.asked.isEmpty)
        scene.list.show()
        try await settle(scene, try ahead(scene.list))
        let first = try ahead(scene.list)
        // The nearest first, and each once.
        #expect(scene.asked == first && Set(requested) == Set(first.map(String.init)))
        for position in first {
            let request = ImageRequest(PipelineFixture.url("\(position)"))
            #expect(fixture.pipeline.cache.image(inMemoryFor: request) != nil)
        }
        #expect(fixture.transport.requests.count == first.count)
        scene.list.close()
    }

    @Test func prefetchFollowsScrollDirection() async throws {
        let scene = try Scene(fixture)
        scene.list.show()
        try await settle(scene, try ahead(scene.list))
        scene.asked = []
        try scene.list.scroll(to: 200)
        await Window.run { !scene.asked.isEmpty && scene.running.isEmpty }
        let forward = try ahead(scene.list)
        #expect(scene.asked == forward)
        scene.asked = []
        try scene.list.scroll(to: 195)
        await Window.run { !scene.asked.isEmpty && scene.running.isEmpty }
        let visible = try scene.list.visible
        #expect(scene.asked == (visible.lowerBound - visible.count..<visible.lowerBound).reversed())
        scene.list.close()
    }

    @Test func manyStepsWithinAFrameAreOnePass() async throws {
        let scene = try Scene(fixture)
        scene.list.show()
        try await settle(scene, try ahead(scene.list))
        scene.asked = []
        for row in 1...200 { try scene.list.scroll(to: row) }
        #expect(scene.asked.isEmpty)
        await Window.run { !scene.asked.isEmpty && scene.running.isEmpty }
        #expect(try scene.asked == ahead(scene.list))
        scene.list.close()
    }

    @Test func prefetchHonoursConcurrencyAndItemLimit() async throws {
        let gate = ScriptedTransportGate()
        holdAll(by: gate)
        let scene = try Scene(fixture, configuration: .init(screens: 2, maximumItems: 4, concurrency: 3))
        scene.list.show()
        await Window.run { scene.running.count == 3 }
        #expect(scene.asked.count == 3)
        gate.open()
        await Window.run { scene.asked.count > 3 && scene.running.isEmpty }
        let end = try scene.list.visible.upperBound
        #expect(scene.asked == Array(end..<end + 4))
        scene.list.close()
    }

    @Test func prefetchStopsForItemsNoLongerAhead() async throws {
        holdAll()
        let scene = try Scene(fixture)
        scene.list.show()
        await Window.run { scene.running.count == 5 && fixture.transport.requestCount == 5 }
        let former = requested
        try scene.list.scroll(to: 200)
        await Window.run { fixture.transport.cancelled.count == 5 && scene.running.isEmpty }
        #expect(Set(fixture.transport.cancelled.map(\.lastPathComponent)) == Set(former))
        scene.list.close()
    }

    @Test func prefetchContinuesForVisibleItems() async throws {
        let gate = ScriptedTransportGate()
        holdAll(by: gate)
        let scene = try Scene(fixture, configuration: .init(concurrency: 1))
        scene.list.show()
        await Window.run { fixture.transport.requestCount == 1 }
        let first = try #require(scene.running.first)
        // So that it is the second that is seen.
        try scene.list.scroll(to: first - 1)
        await Window.run { (try? scene.list.visible.contains(first)) == true && !isLooking(scene) }
        #expect(scene.running == [first])
        gate.open()
        await Window.run { scene.asked.count > 1 && scene.running.isEmpty }
        #expect(fixture.transport.cancelled.isEmpty)
        scene.list.close()
    }

    /// Whether the list has not been drawn since it was scrolled.
    private func isLooking(_ scene: Scene) -> Bool { scene.prefetcher?.isUpdateScheduled ?? false }

    @Test func aListThatIsNotSeenLoadsNothing() async throws {
        holdAll()
        let scene = try Scene(fixture)
        scene.list.show()
        await Window.run { fixture.transport.requestCount == 5 }
        scene.list.hide()
        await Window.run { fixture.transport.cancelled.count == 5 }
        #expect(scene.running.isEmpty)
        scene.asked = []
        try scene.list.scroll(to: 200)
        #expect(!isLooking(scene))
        // Seen again it goes on where it stands.
        scene.list.show()
        await Window.run { !scene.asked.isEmpty && scene.running.isEmpty }
        #expect(try scene.asked == ahead(scene.list))
        scene.list.close()
    }

    @Test func itemsThatComeAndGo() async throws {
        let gate = ScriptedTransportGate()
        holdAll(by: gate)
        // Held as well, so that nothing behind it is begun.
        fixture.transport.answer(PipelineFixture.url("new"), with: .data(png).held(by: gate))
        let scene = try Scene(fixture, configuration: .init(concurrency: 2))
        scene.list.show()
        await Window.run { fixture.transport.requestCount == 2 }
        let first = try #require(scene.running.first)
        // The second one goes, and something new comes behind the first.
        scene.list.remove(at: first + 1)
        scene.list.insert("new", at: first + 1)
        await Window.run { scene.asked.count == 3 }
        #expect(scene.asked == [first, first + 1, first + 1] && scene.running == [first, first + 1])
        await Window.run { fixture.transport.cancelled.count == 1 && fixture.transport.requestCount == 3 }
        #expect(fixture.transport.cancelled.map(\.lastPathComponent) == ["\(first + 1)"])
        #expect(requested.last == "new")
        gate.open()
        try await settle(scene, try ahead(scene.list))
        #expect(fixture.transport.cancelled.count == 1)
        scene.list.close()
    }

    @Test func destroyedListCancelsPrefetch() async throws {
        holdAll()
        let scene = try Scene(fixture)
        scene.list.show()
        await Window.run { fixture.transport.requestCount == 5 }
        scene.list.close()
        await Window.run { fixture.transport.cancelled.count == 5 }
        #expect(scene.running.isEmpty)
        scene.prefetcher?.stop()
    }

    @Test(arguments: [false, true]) func stoppedPrefetcherCancelsLoadsAndDisconnects(isForgotten: Bool) async throws {
        holdAll()
        let scene = try Scene(fixture)
        scene.list.show()
        await Window.run { fixture.transport.requestCount == 5 }
        weak let prefetcher = scene.prefetcher
        if isForgotten { scene.forget() } else { prefetcher?.stop() }
        #expect((prefetcher == nil) == isForgotten)
        await Window.run { fixture.transport.cancelled.count == 5 }
        // Its handlers are gone, too.
        for name in ["map", "unmap", "destroy"] {
            let id = g_signal_lookup(name, g_type_from_name("GtkListView"))
            let mask = GSignalMatchType(rawValue: G_SIGNAL_MATCH_ID.rawValue)
            let handler = g_signal_handler_find(scene.list.list, mask, id, 0, nil, nil, nil)
            #expect(handler == 0, "\(name)")
        }
        scene.list.close()
    }

    @Test func aListWithoutAModelOrWithAnother() async throws {
        let scene = try Scene(fixture)
        scene.list.show()
        try await settle(scene, try ahead(scene.list))
        scene.asked = []
        let model = gtk_list_view_get_model(OpaquePointer(scene.list.list))
        g_object_ref(UnsafeMutableRawPointer(model))
        gtk_list_view_set_model(OpaquePointer(scene.list.list), nil)
        gtk_list_view_set_model(OpaquePointer(scene.list.list), model)
        g_object_unref(UnsafeMutableRawPointer(model))
        await Window.run { !scene.asked.isEmpty && scene.running.isEmpty }
        #expect(try scene.asked == ahead(scene.list))
        scene.list.close()
        // A widget that is not a list.
        let label = try #require(gtk_label_new(""))
        g_object_ref_sink(label)
        let nothing = ImageListPrefetcher(label, pipeline: fixture.pipeline) { _ in [] }
        #expect(nothing.runningPositions.isEmpty)
        g_object_unref(label)
    }
}
