import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Views that are there and are not seen.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ViewVisibilityTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    /// A view above and one below, each as high as the window, in a viewport.
    @MainActor private struct Page {
        let views = [AnimatedImageView(), AnimatedImageView()]
        let window: Window
        private let scrolled: UnsafeMutablePointer<GtkWidget>

        init(margin: Int32) async throws {
            let column = try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
            gtk_widget_set_margin_top(column, margin)
            for view in views {
                gtk_widget_set_size_request(view.widget, 50, 300)
                gtk_box_append(UnsafeMutableRawPointer(column).assumingMemoryBound(to: GtkBox.self), view.widget)
            }
            scrolled = try #require(gtk_scrolled_window_new())
            gtk_scrolled_window_set_child(OpaquePointer(scrolled), column)
            window = try await Window.showing(scrolled)
        }

        private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
            gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled))
        }

        func swap() {
            let column = gtk_widget_get_parent(views[0].widget)
            gtk_box_reorder_child_after(
                UnsafeMutableRawPointer(column)?.assumingMemoryBound(to: GtkBox.self), views[0].widget, views[1].widget)
        }

        func scroll(to place: Double) { gtk_adjustment_set_value(adjustment, place) }

        var seen: [Bool] { views.map(\.isPlaying) }
    }

    @Test(arguments: [Int32(0), 20]) func viewScrolledOutOfSightPauses(margin: Int32) async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let page = try await Page(margin: margin)
        for view in page.views {
            view.repeatCount = .infinite
            var request = ImageRequest(url)
            request.decode.target = TargetSize(PixelSize(1000, 1000))
            view.setImage(request, pipeline: fixture.pipeline)
        }
        await Window.run { page.seen == [true, false] && page.views[1].player != nil }
        #expect(!page.views[1].target.isVisible)
        // A little of both, then the second alone, and back.
        for (place, seen) in [(250.0, [true, true]), (450, [false, true]), (0, [true, false])] {
            page.scroll(to: place)
            await Window.run { page.seen == seen }
        }
        // Nothing is scrolled, and the second is where the first was.
        page.swap()
        await Window.run { page.seen == [false, true] }
        page.window.close()
    }

    /// Nothing of the page is followed by a view that has left it.
    @Test func aViewThatIsTakenOut() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let page = try await Page(margin: 0)
        let view = page.views[0]
        view.repeatCount = .infinite
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(1000, 1000))
        view.setImage(request, pipeline: fixture.pipeline)
        await Window.run { view.isPlaying }
        let parent = try #require(gtk_widget_get_parent(view.widget))
        gtk_box_remove(UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GtkBox.self), view.widget)
        #expect(!view.isPlaying)
        page.scroll(to: 100)
        let other = try await Window.showing(view.widget)
        await Window.run { view.isPlaying }
        other.close()
        page.window.close()
    }
}
