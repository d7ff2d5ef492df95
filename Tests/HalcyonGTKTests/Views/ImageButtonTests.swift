import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Images and backgrounds of a button's states, and of a view's roles.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ImageButtonTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    /// Returns the colour that is drawn in the middle.
    private func color(_ layer: ImageLayer) throws -> [UInt8] {
        try Rendering(layer.paintable, width: 8, height: 8).color(4, 4)
    }

    private func serve(_ color: [UInt8], _ name: String) throws -> URL {
        let url = PipelineFixture.url(name)
        fixture.transport.answer(url, with: .data(try Colors.image(color, 8, 8).data(as: .png)))
        return url
    }

    @Test func eachStateHasItsImage() async throws {
        try Window.requireScreen()
        let button = ImageButton(isToggle: true)
        let window = try await Window.showing(button.widget)
        let ends = Ends()
        button.image().setImage(
            from: try serve(Colors.red, "red"), pipeline: fixture.pipeline, completion: ends.callback)
        button.image(for: .insensitive).setImage(
            from: try serve(Colors.blue, "blue"), pipeline: fixture.pipeline,
            completion: ends.callback)
        await Window.run { ends.count == 2 }
        let (normal, insensitive) = (button.image(), button.image(for: .insensitive))
        #expect(button.state == .normal && normal.isActive && !insensitive.isActive)
        gtk_widget_set_sensitive(button.widget, 0)
        #expect(button.state == .insensitive && !normal.isActive && insensitive.isActive)
        gtk_widget_set_sensitive(button.widget, 1)
        // A state without an image shows the normal one.
        gtk_toggle_button_set_active(
            UnsafeMutableRawPointer(button.widget).assumingMemoryBound(to: GtkToggleButton.self), 1)
        #expect(button.state == .checked && normal.isActive)
        gtk_widget_set_state_flags(button.widget, GTK_STATE_FLAG_PRELIGHT, 0)
        gtk_widget_set_state_flags(button.widget, GTK_STATE_FLAG_ACTIVE, 0)
        #expect(button.state == .checked)
        gtk_toggle_button_set_active(
            UnsafeMutableRawPointer(button.widget).assumingMemoryBound(to: GtkToggleButton.self), 0)
        #expect(button.state == .active)
        gtk_widget_unset_state_flags(button.widget, GTK_STATE_FLAG_ACTIVE)
        #expect(button.state == .hover && normal.isActive)
        window.close()
    }

    @Test func anImageOfTheStateIsSeenOnceItIsThere() async throws {
        try Window.requireScreen()
        let gate = ScriptedTransportGate()
        let late = try fixture.serve("png/rgb8.png", gate: gate)
        let button = ImageButton()
        let window = try await Window.showing(button.widget)
        let ends = Ends()
        button.image().setImage(
            from: try serve(Colors.red, "red"), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        gtk_widget_set_state_flags(button.widget, GTK_STATE_FLAG_PRELIGHT, 0)
        button.image(for: .hover).setImage(from: late, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(button.image().isActive)
        gate.open()
        await Window.run { ends.count == 2 }
        #expect(button.image(for: .hover).isActive && !button.image().isActive)
        window.close()
    }

    @Test func aStateIsCancelledAlone() async throws {
        try Window.requireScreen()
        let gate = ScriptedTransportGate()
        let urls = try ["png/rgb8.png", "png/rgba8.png"].map { try fixture.serve($0, gate: gate) }
        let button = ImageButton()
        let window = try await Window.showing(button.widget)
        let (normal, hover) = (Ends(), Ends())
        button.image().setImage(from: urls[0], pipeline: fixture.pipeline, completion: normal.callback)
        button.image(for: .hover).setImage(from: urls[1], pipeline: fixture.pipeline, completion: hover.callback)
        await Window.run { fixture.transport.requestCount == 2 }
        // A layer that is not shown is less urgent.
        #expect(button.image(for: .hover).target.loadPriority == .low)
        #expect(button.image().target.loadPriority == .normal)
        button.image(for: .hover).cancel()
        #expect(hover.all == ["cancelled"] && normal.count == 0)
        gate.open()
        await Window.run { normal.count == 1 }
        #expect(normal.all == ["shown"])
        window.close()
    }

    @Test func theBackgroundIsBeneath() async throws {
        try Window.requireScreen()
        let button = ImageButton()
        let window = try await Window.showing(button.widget)
        let ends = Ends()
        button.background().setImage(
            from: try serve(Colors.blue, "blue"), pipeline: fixture.pipeline, completion: ends.callback)
        button.image().setImage(
            from: try serve([128, 0, 0, 128], "clear"), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 2 }
        #expect(try Rendering(button.image().paintable, width: 8, height: 8).isClose(4, 4, [128, 0, 127, 255]))
        window.close()
    }

    @Test func aViewHasThreeRoles() async throws {
        try Window.requireScreen()
        let view = ImageView()
        view.showImage(try Colors.image(Colors.red, 8, 8))
        view.isHighlighted = true
        // There is nothing to see of the highlight.
        #expect(view.isActive)
        view.highlight.showImage(try Colors.image([0, 0, 0, 0], 8, 8))
        view.background.showImage(try Colors.image(Colors.blue, 4, 4))
        #expect(!view.isActive && view.highlight.isActive)
        #expect(try color(view.highlight) == Colors.blue && color(view) == Colors.red)
        view.isHighlighted = false
        #expect(view.isActive && !view.highlight.isActive)
        view.showImage(nil)
        #expect(try color(view) == Colors.blue)
        // The background has a natural size where the image has none.
        #expect(gdk_paintable_get_intrinsic_width(view.paintable.pointer) == 4)
    }

    @Test func aButtonThatGoesTakesItsLoadsAlong() async throws {
        try Window.requireScreen()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let widget = try #require(gtk_button_new())
        weak var gone: ImageButton?
        let ends = Ends()
        let window = try await Window.showing(widget)
        do {
            let button = try #require(ImageButton.of(widget))
            gone = button
            #expect(ImageButton.of(widget) === button)
            button.image().setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        }
        await Window.run { fixture.transport.requestCount == 1 }
        window.close()
        await Window.run { gone == nil && ends.count == 1 }
        #expect(ends.all == ["cancelled"])
    }
}
