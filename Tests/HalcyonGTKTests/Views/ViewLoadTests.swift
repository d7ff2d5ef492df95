import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// A load on a real view, from its start to its end.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ViewLoadTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    /// A picture of one colour, as wide as its number.
    private func serve(_ width: Int, gate: ScriptedTransportGate? = nil) throws -> ImageRequest {
        let url = PipelineFixture.url("\(width).png")
        var answer = ScriptedTransport.Answer.data(try Colors.image(Colors.blue, width, 1).data(as: .png))
        answer.headGate = gate
        fixture.transport.answer(url, with: answer)
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(1000, 1000))
        return request
    }

    /// The width of the drawn picture, which identifies it; 0 is nothing.
    private func width(_ view: ImageView) -> Int {
        Int(gdk_paintable_get_intrinsic_width(view.paintable.pointer))
    }

    private func placeholder(_ width: Int) throws -> ImageTarget.Placeholder {
        .image(try Colors.image(Colors.red, width, 1))
    }

    private func set(_ view: ImageView, _ request: ImageRequest, _ options: ImageTarget.Options, _ ends: Ends) {
        view.setImage(request, options: options, pipeline: fixture.pipeline, completion: ends.callback)
    }

    private func shown() async throws -> (ImageView, Window) {
        try Window.requireScreen()
        let view = ImageView()
        return (view, try await Window.showing(view.widget))
    }

    /// T-47.
    @Test func lastOfThreeRequestsIsShown() async throws {
        let (view, window) = try await shown()
        let gates = (0..<3).map { _ in ScriptedTransportGate() }
        let ends = Ends()
        for (index, gate) in gates.enumerated() { set(view, try serve(11 + index, gate: gate), .init(), ends) }
        #expect(ends.all == ["superseded", "superseded"])
        for gate in gates { gate.open() }
        await Window.run { ends.count == 3 }
        #expect(ends.all.last == "shown" && width(view) == 13)
        window.close()
    }

    /// T-48: the image is there by then, and stays; its end is that of its transition.
    @Test func aCancelDuringATransition() async throws {
        let (view, window) = try await shown()
        let ends = Ends()
        set(view, try serve(11), .init(transition: .fade(.seconds(3600)), waitsForTransition: true), ends)
        await Window.run { view.transition != nil }
        view.cancel()
        #expect(ends.count == 0 && width(view) == 11 && view.content.image?.width == 11)
        set(view, try serve(12), .init(), ends)
        await Window.run { ends.count == 2 }
        #expect(ends.all == ["shown", "shown"] && width(view) == 12)
        window.close()
    }

    /// T-48: what is in memory is there at once, unless the transition is forced.
    @Test func aTransitionIsForWhatWasNotInMemory() async throws {
        let (view, window) = try await shown()
        let ends = Ends()
        let requests = [try serve(11), try serve(12)]
        for request in requests { _ = try await fixture.pipeline.image(for: request) }
        let fade = ImageTransition.fade(.seconds(3600))
        set(view, requests[0], .init(transition: fade, waitsForTransition: true), ends)
        #expect(ends.all == ["shown"] && view.transition == nil)
        set(view, requests[1], .init(transition: fade.forced, waitsForTransition: true), ends)
        #expect(ends.count == 1 && view.transition != nil && width(view) == 12)
        window.close()
    }

    /// The desktop-wide setting that turns animations off.
    @Test func aDesktopWithoutAnimations() async throws {
        let (view, window) = try await shown()
        let request = try serve(11)
        _ = try await fixture.pipeline.image(for: request)
        // Nothing else runs from here on: the setting is that of every window.
        var value = GValue()
        g_value_init(&value, g_type_from_name("gboolean"))
        let settings = UnsafeMutableRawPointer(try #require(gtk_widget_get_settings(view.widget)))
        defer {
            g_value_set_boolean(&value, 1)
            g_object_set_property(settings.assumingMemoryBound(to: GObject.self), "gtk-enable-animations", &value)
        }
        g_object_set_property(settings.assumingMemoryBound(to: GObject.self), "gtk-enable-animations", &value)
        let ends = Ends()
        let fade = ImageTransition.fade(.seconds(3600)).forced
        set(view, request, .init(transition: fade, waitsForTransition: true), ends)
        #expect(ends.all == ["shown"] && view.transition == nil && width(view) == 11)
        window.close()
    }

    /// The properties of a view that a screen reader is given.
    @Test func aScreenReader() async throws {
        let (view, window) = try await shown()
        let area = OpaquePointer(view.drawingWidget)
        #expect(gtk_accessible_get_accessible_role(area) == GTK_ACCESSIBLE_ROLE_IMG)
        let isLabelled = { gtk_test_accessible_has_property(area, GTK_ACCESSIBLE_PROPERTY_LABEL) != 0 }
        let isBusy = { gtk_test_accessible_has_state(area, GTK_ACCESSIBLE_STATE_BUSY) != 0 }
        #expect(!isLabelled())
        view.accessibleLabel = "A lake"
        #expect(isLabelled())
        view.accessibleLabel = nil
        #expect(!isLabelled())
        let (gate, ends) = (ScriptedTransportGate(), Ends())
        #expect(!isBusy())
        set(view, try serve(11, gate: gate), .init(), ends)
        #expect(isBusy())
        gate.open()
        await Window.run { ends.count == 1 }
        window.close()
    }

    /// T-49.
    @Test func withoutAURLThePlaceholderStays() async throws {
        let (view, window) = try await shown()
        let ends = Ends()
        view.setImage(
            from: nil, placeholder: try placeholder(7), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(ends.all == ["failed"] && width(view) == 7)
        window.close()
    }

    /// T-49: the image that is shown stays until the next is there; where there is none the placeholder is seen.
    @Test func theCurrentImageMayStay() async throws {
        let (view, window) = try await shown()
        let (gates, ends) = ((0..<2).map { _ in ScriptedTransportGate() }, Ends())
        let options = ImageTarget.Options(placeholder: try placeholder(7), keepsCurrent: true)
        for (index, before) in [7, 11].enumerated() {
            set(view, try serve(11 + index, gate: gates[index]), options, ends)
            #expect(width(view) == before)
            gates[index].open()
            await Window.run { ends.count == index + 1 }
            #expect(width(view) == 11 + index)
        }
        window.close()
    }

    /// T-49: the image for failures: set, set to none, and not set.
    @Test func failureOptionSelectsShownImage() async throws {
        let (view, window) = try await shown()
        let url = PipelineFixture.url("broken.png")
        fixture.transport.answer(url, with: .data(Data("no image".utf8)))
        let failures: [(ImageTarget.Options.Failure, Int)] = [
            (.image(try Colors.image(Colors.red, 5, 1)), 5), (.image(nil), 0), (.placeholder, 7),
        ]
        for (failure, expected) in failures {
            let ends = Ends()
            set(view, ImageRequest(url), .init(placeholder: try placeholder(7), failure: failure), ends)
            await Window.run { ends.count == 1 }
            #expect(ends.all == ["failed"] && width(view) == expected)
        }
        window.close()
    }

    /// A load that waits for a size has not begun: it is begun from the server.
    @Test func aReloadBeforeTheFirstLayout() async throws {
        var request = try serve(11)
        request.decode.target = nil
        _ = try await fixture.pipeline.image(for: request)
        try Window.requireScreen()
        let (view, ends) = (ImageView(), Ends())
        set(view, request, .init(), ends)
        view.reload(completion: ends.callback)
        #expect(ends.all == ["superseded"])
        let window = try await Window.showing(view.widget)
        await Window.run { ends.count == 2 }
        #expect(ends.all == ["superseded", "shown"] && fixture.transport.requestCount == 2)
        window.close()
    }

    /// Only the same animation goes on; what takes its place has its transition.
    @Test func aStillImageInsteadOfAnAnimationThatArrives() async throws {
        let data = try TestFiles.data("animation/mixed.gif")
        let gate = ScriptedTransportGate()
        let url = PipelineFixture.url("arriving.gif")
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(data.count / 2)), .wait(gate), .chunk(data.dropFirst(data.count / 2))]))
        let (view, window) = try await shown()
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(1000, 1000))
        request.wantsPreviews = true
        let ends = Ends()
        set(view, request, .init(), ends)
        await Window.run { view.player?.isPlaying == true }
        set(view, try serve(11), .init(placeholderTiming: .onFailure, transition: .fade(.seconds(3600))), ends)
        await Window.run { ends.count == 2 }
        #expect(view.transition != nil && view.player == nil && width(view) == 11)
        window.close()
    }
}
