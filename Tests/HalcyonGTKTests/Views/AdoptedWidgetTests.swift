import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Pictures, images and buttons that something else has made.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct AdoptedWidgetTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    private func widget(_ make: () -> UnsafeMutablePointer<GtkWidget>?) throws -> UnsafeMutablePointer<GtkWidget> {
        try Window.requireScreen()
        return try #require(make())
    }

    @Test func aPictureLoadsAtItsOwnSize() async throws {
        let url = PipelineFixture.url("large.png")
        fixture.transport.answer(url, with: .data(try Colors.image(Colors.red, 800, 400).data(as: .png)))
        let picture = try widget { gtk_picture_new() }
        let view = try #require(ImageView.of(picture))
        #expect(ImageView.of(picture) === view && view.widget == picture)
        let ends = Ends()
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(ends.count == 0 && fixture.transport.requestCount == 0)
        let window = try await Window.showing(picture)
        await Window.run { ends.count == 1 }
        // The window is 200 x 100.
        #expect(view.content.image?.size == PixelSize(200, 100))
        #expect(gtk_picture_get_paintable(OpaquePointer(picture)) == view.paintable.pointer)
        window.resize(400, 300)
        await Window.run { view.content.image?.width == 400 }
        window.close()
    }

    /// The view is not drawn, since it has no size before it has an image.
    @Test func aPictureWithoutASizeTakesThatOfItsImage() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let image = try await fixture.pipeline.image(for: url)
        let picture = try widget { gtk_picture_new() }
        gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(picture, GTK_ALIGN_CENTER)
        let view = try #require(ImageView.of(picture))
        let ends = Ends()
        let window = try await Window.showing(picture)
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 && gtk_widget_get_height(picture) == image.height }
        #expect(view.content.image?.size == image.size)
        // And that of the next one.
        let other = PipelineFixture.url("other.png")
        fixture.transport.answer(other, with: .data(try Colors.image(Colors.red, 90, 80).data(as: .png)))
        view.setImage(from: other, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 2 && gtk_widget_get_height(picture) == 80 }
        #expect(view.content.image?.size == PixelSize(90, 80))
        window.close()
    }

    @Test func anImageAndAButton() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        for widget in [try widget { gtk_image_new() }, try widget { gtk_button_new() }] {
            let view = try #require(ImageView.of(widget))
            view.playback.repeatCount = .infinite
            let ends = Ends()
            view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
            let window = try await Window.showing(widget)
            await Window.run { ends.count == 1 && view.player?.currentFrameIndex ?? 0 > 1 }
            #expect(ends.all == ["shown"])
            window.close()
        }
    }

    @Test func widgetsWithoutImageAreNotAdopted() throws {
        #expect(ImageView.of(try widget { gtk_label_new("") }) == nil)
        #expect(ImageButton.of(try widget { gtk_picture_new() }) == nil)
    }

    /// The cell of a list needs no dictionary of views.
    @Test func aViewIsFoundFromItsOwnWidget() throws {
        try Window.requireScreen()
        let views = [ImageView(), AnimatedImageView()]
        for view in views { #expect(ImageView.of(view.widget) === view) }
        #expect(ImageButton.of(views[0].widget) == nil)
        let button = ImageButton()
        #expect(ImageButton.of(button.widget) === button && ImageView.of(button.widget) == nil)
        // It stays with its widget only if it was attached.
        var view: ImageView? = ImageView()
        weak let released = view
        let widget = try #require(view?.widget)
        g_object_ref(widget)
        view = nil
        #expect(released == nil && ImageView.of(widget) == nil)
        g_object_unref(widget)
        let list = try self.widget { gtk_box_new(GTK_ORIENTATION_VERTICAL, 0) }
        g_object_ref_sink(list)
        for _ in 0..<3 {
            let cell = ImageView()
            cell.attachToWidget()
            gtk_box_append(UnsafeMutableRawPointer(list).assumingMemoryBound(to: GtkBox.self), cell.widget)
        }
        let first = try #require(gtk_widget_get_first_child(list))
        weak let cell = ImageView.of(first)
        #expect(cell?.widget == first)
        g_object_unref(list)
        #expect(cell == nil)
    }

    /// A button has one of the two.
    @Test func aButtonHasAViewOrAnImageButton() throws {
        let buttons = [try widget { gtk_button_new() }, try widget { gtk_button_new() }]
        for button in buttons { g_object_ref_sink(button) }
        let view = try #require(ImageView.of(buttons[0]))
        #expect(ImageView.of(buttons[0]) === view && ImageButton.of(buttons[0]) == nil)
        let imageButton = try #require(ImageButton.of(buttons[1]))
        #expect(ImageButton.of(buttons[1]) === imageButton && ImageView.of(buttons[1]) == nil)
        for button in buttons { g_object_unref(button) }
    }

    /// The program that made the picture may set something else on it; the next load takes its place.
    @Test func aPictureThatShowedSomethingElse() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let picture = try widget { gtk_picture_new() }
        let view = try #require(ImageView.of(picture))
        let window = try await Window.showing(picture)
        gtk_picture_set_paintable(OpaquePointer(picture), nil)
        let ends = Ends()
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(gtk_picture_get_paintable(OpaquePointer(picture)) == view.paintable.pointer)
        window.close()
    }

    @Test func theViewGoesWithItsWidget() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        for widget in [try widget { gtk_picture_new() }, try widget { gtk_button_new() }] {
            weak var gone: ImageView?
            let ends = Ends()
            let window = try await Window.showing(widget)
            do {
                let view = try #require(ImageView.of(widget))
                gone = view
                var request = ImageRequest(url)
                request.decode.target = TargetSize(PixelSize(9, 9))
                view.setImage(request, pipeline: fixture.pipeline, completion: ends.callback)
            }
            #expect(gone != nil && ends.count == 0)
            window.close()
            await Window.run { gone == nil && ends.count == 1 }
            #expect(ends.all == ["cancelled"])
        }
    }

    /// Placeholders and indicators that are widgets have no place there, and are not made.
    @Test func aPictureHasNoRoomForWidgets() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let picture = try widget { gtk_picture_new() }
        let view = try #require(ImageView.of(picture))
        var made = 0
        let ends = Ends()
        view.setImage(
            from: url,
            placeholder: .widget {
                made += 1
                return gtk_spinner_new()
            }, indicator: .spinner, pipeline: fixture.pipeline, completion: ends.callback)
        let window = try await Window.showing(picture)
        await Window.run { ends.count == 1 }
        #expect(made == 0 && ends.all == ["shown"])
        window.close()
    }
}
