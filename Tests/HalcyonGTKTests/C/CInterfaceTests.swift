import CGTK
import CHalcyonGTKC
import CTestGTK
import Foundation
import Halcyon
import TestSupport
import Testing

@testable import HalcyonGTK

/// The views as C programs have them.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct CInterfaceTests {
    private let loads = CLoads()

    private func path(_ file: String) -> String { TestFiles.url(file).path(percentEncoded: false) }

    private func address(_ file: String) -> String { TestFiles.url(file).absoluteString }

    private func makeView(_ url: String? = nil) throws -> UnsafeMutablePointer<GtkWidget> {
        try Window.requireScreen()
        return try #require(halcyon_image_view_new(url))
    }

    /// Returns a picture that is a view, whose content a test can look at.
    private func makePicture() throws -> (UnsafeMutablePointer<GtkWidget>, ImageView) {
        try Window.requireScreen()
        let picture = try #require(gtk_picture_new())
        #expect(halcyon_image_view_adopt(picture) != 0)
        return (picture, try #require(ImageView.of(picture)))
    }

    @Test func allFunctionsAreThereForCAndCPlusPlus() throws {
        #expect(test_gtk_functions_in_c() == 14 && test_gtk_functions_in_cpp() == 14)
        #expect(String(cString: try #require(halcyon_version())) == HalcyonVersion.current)
        #expect(halcyon_error_quark() == g_quark_from_string("halcyon-error-quark"))
    }

    // MARK: - Loads

    @Test func aViewShowsTheImageOfItsURL() async throws {
        let view = try makeView(address("png/rgb8.png"))
        #expect(halcyon_is_image_view(view) != 0 && g_object_is_floating(view) != 0)
        loads.follow(view)
        let window = try await Window.showing(view)
        await Window.run { loads.count == 1 }
        let size = try Image(contentsOf: TestFiles.url("png/rgb8.png")).size
        #expect(loads.all == ["\(size.width)x\(size.height)"])
        // The same again, and another one.
        halcyon_image_view_set_url(view, address("png/rgb8.png"))
        #expect(loads.count == 2)
        halcyon_image_view_set_url(view, address("png/rgba8.png"))
        await Window.run { loads.count == 3 }
        #expect(loads.all.allSatisfy { $0.contains("x") })
        window.close()
    }

    @Test func aFailureHasAReasonAndAnImage() async throws {
        let (picture, view) = try makePicture()
        #expect(halcyon_image_view_set_error_file(picture, path("png/rgb8.png"), nil) != 0)
        loads.follow(picture)
        let window = try await Window.showing(picture)
        let urls = ["file:///nowhere/a.png", "nothing", "", "gopher://images.test/a.png"]
        for (index, url) in urls.enumerated() {
            halcyon_image_view_set_url(picture, url)
            await Window.run { loads.count == index + 1 }
        }
        #expect(loads.all[0].contains("/nowhere/a.png"))
        // A text that is not UTF-8.
        var bytes: [CChar] = [CChar(bitPattern: 0xff), CChar(bitPattern: 0xfe), 0]
        halcyon_image_view_set_url(picture, &bytes)
        await Window.run { loads.count == urls.count + 1 }
        #expect(loads.all.last?.contains("UTF-8") == true)
        guard case .failure = view.content else { return #expect(Bool(false), "\(view.content)") }
        window.close()
    }

    @Test func aPlaceholderIsShownUntilTheImageIsThere() async throws {
        let (picture, view) = try makePicture()
        let size = try Image(contentsOf: TestFiles.url("png/rgba8.png")).size
        #expect(halcyon_image_view_set_placeholder_file(picture, path("png/rgba8.png"), nil) != 0)
        #expect(view.content.image?.size == size)
        // It waits for a size. A placeholder that is set by then is shown, too. No other test has the image in memory.
        halcyon_image_view_set_url(picture, address("png/palette4.png"))
        guard case .placeholder = view.content else { return #expect(Bool(false), "\(view.content)") }
        #expect(halcyon_image_view_set_placeholder_file(picture, nil, nil) != 0 && view.content.image == nil)
        #expect(halcyon_image_view_set_placeholder_file(picture, path("png/rgba8.png"), nil) != 0)
        #expect(view.content.image?.size == size)
        loads.follow(picture)
        let window = try await Window.showing(picture)
        await Window.run { loads.count == 1 }
        guard case .image = view.content else { return #expect(Bool(false), "\(view.content)") }
        // It does not take the place of an image.
        #expect(halcyon_image_view_set_placeholder_file(picture, nil, nil) != 0)
        guard case .image = view.content else { return #expect(Bool(false), "\(view.content)") }
        halcyon_image_view_set_url(picture, nil)
        #expect(view.content.image == nil && loads.count == 1)
        window.close()
    }

    @Test(arguments: [
        ("/nowhere/a.png", HALCYON_ERROR_IMAGE), ("", HALCYON_ERROR_PATH), ("\u{1}", HALCYON_ERROR_IMAGE),
    ]) func aFileThatIsNoImageIsAnError(path: String, code: HalcyonError) throws {
        let (picture, view) = try makePicture()
        g_object_ref_sink(picture)
        defer { g_object_unref(picture) }
        #expect(halcyon_image_view_set_placeholder_file(picture, self.path("png/rgb8.png"), nil) != 0)
        for set in [halcyon_image_view_set_placeholder_file, halcyon_image_view_set_error_file] {
            var error: UnsafeMutablePointer<GError>?
            #expect(set(picture, path, &error) == 0 && set(picture, path, nil) == 0)
            let found = try #require(error)
            #expect(found.pointee.domain == halcyon_error_quark() && found.pointee.code == Int32(code.rawValue))
            #expect(!String(cString: found.pointee.message).isEmpty)
            g_error_free(found)
        }
        // The former one stays.
        #expect(view.content.image != nil)
    }

    @Test func aCancelledLoadIsNotReportedAndAReloadIs() async throws {
        let view = try makeView(address("png/rgb8.png"))
        loads.follow(view)
        halcyon_image_view_cancel(view)
        let window = try await Window.showing(view)
        halcyon_image_view_reload(view)
        await Window.run { loads.count == 1 }
        halcyon_image_view_set_url(view, nil)
        halcyon_image_view_reload(view)
        #expect(loads.count == 1)
        window.close()
    }

    @Test func theFitIsTheViews() throws {
        try Window.requireScreen()
        let button = try #require(gtk_button_new())
        g_object_ref_sink(button)
        defer { g_object_unref(button) }
        #expect(halcyon_image_view_adopt(button) != 0 && halcyon_image_view_adopt(button) != 0)
        let view = try #require(ImageView.of(button))
        let fits: [(HalcyonContentFit, ContentFit)] = [
            (HALCYON_CONTENT_FIT_COVER, .cover), (HALCYON_CONTENT_FIT_FILL, .fill),
            (HALCYON_CONTENT_FIT_SCALE_DOWN, .scaleDown), (HALCYON_CONTENT_FIT_CONTAIN, .contain),
        ]
        for (fit, expected) in fits {
            halcyon_image_view_set_content_fit(button, fit)
            #expect(view.contentFit == expected)
        }
        let wrong = Criticals.of { halcyon_image_view_set_content_fit(button, HalcyonContentFit(rawValue: 99)) }
        #expect(wrong == ["halcyon_image_view_set_content_fit"] && view.contentFit == .contain)
    }

    // MARK: - Lifetime

    @Test func theViewGoesWithItsWidget() async throws {
        let view = try makeView(address("png/rgb8.png"))
        let other = CLoads()
        loads.follow(view)
        other.follow(view)
        #expect(loads.releases == 1 && other.releases == 0)
        let window = try await Window.showing(view)
        g_object_ref(view)
        await Window.run { other.count == 1 }
        window.close()
        await Window.run { gtk_widget_get_parent(view) == nil }
        // The program has a reference. A widget that is destroyed all the same is no view any more.
        #expect(halcyon_is_image_view(view) != 0)
        g_object_run_dispose(UnsafeMutableRawPointer(view).assumingMemoryBound(to: GObject.self))
        #expect(halcyon_is_image_view(view) == 0)
        #expect(Criticals.of { halcyon_image_view_set_url(view, nil) } == ["halcyon_image_view_set_url"])
        g_object_unref(view)
        await Window.run { other.releases == 1 }
        #expect(loads.releases == 1 && loads.count == 0 && other.count == 1)
    }

    @Test func aWidgetWithoutAParentIsFreed() throws {
        let view = try makeView(address("png/rgb8.png"))
        loads.follow(view)
        g_object_ref_sink(view)
        g_object_unref(view)
        #expect(loads.releases == 1 && loads.count == 0)
    }

    @Test func aCallbackMayDestroyItsView() async throws {
        let view = try makeView(address("png/rgb8.png"))
        loads.follow(view)
        let box = try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
        gtk_widget_set_vexpand(view, 1)
        gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), view)
        loads.onCall = { widget in
            gtk_box_remove(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), widget)
        }
        let window = try await Window.showing(box)
        await Window.run { loads.releases == 1 }
        #expect(loads.count == 1 && gtk_widget_get_first_child(box) == nil)
        window.close()
    }

    // MARK: - Misuse

    @Test func whatIsNoViewIsRefused() throws {
        try Window.requireScreen()
        let label = try #require(gtk_label_new(""))
        g_object_ref_sink(label)
        defer { g_object_unref(label) }
        #expect(halcyon_image_view_adopt(label) == 0 && halcyon_is_image_view(label) == 0)
        #expect(halcyon_is_image_view(nil) == 0)
        for widget in [nil, label] {
            let names = Criticals.of {
                halcyon_image_view_set_url(widget, "http://images.test/a.png")
                #expect(halcyon_image_view_set_placeholder_file(widget, path("png/rgb8.png"), nil) == 0)
                #expect(halcyon_image_view_set_error_file(widget, path("png/rgb8.png"), nil) == 0)
                halcyon_image_view_set_content_fit(widget, HALCYON_CONTENT_FIT_COVER)
                loads.follow(widget)
                halcyon_image_view_reload(widget)
                halcyon_image_view_cancel(widget)
            }
            let functions = [
                "set_url", "set_placeholder_file", "set_error_file", "set_content_fit", "set_load_callback", "reload",
                "cancel",
            ]
            #expect(names == functions.map { "halcyon_image_view_" + $0 })
        }
        // The data of a callback that is not set is given back.
        #expect(loads.releases == 2)
        let others = Criticals.of {
            #expect(halcyon_image_view_adopt(nil) == 0)
            halcyon_follow_application(nil)
        }
        #expect(others == ["halcyon_image_view_adopt", "halcyon_follow_application"])
    }

    @Test func anotherThreadIsRefused() throws {
        let view = try makeView()
        g_object_ref_sink(view)
        defer { g_object_unref(view) }
        nonisolated(unsafe) let widget = view
        let (path, loads) = (path("png/rgb8.png"), loads)
        let names = Criticals.of {
            Criticals.onAnotherThread {
                #expect(halcyon_image_view_new(nil) == nil && halcyon_image_view_adopt(widget) == 0)
                #expect(halcyon_is_image_view(widget) == 0)
                halcyon_image_view_set_url(widget, nil)
                #expect(halcyon_image_view_set_placeholder_file(widget, path, nil) == 0)
                #expect(halcyon_image_view_set_error_file(widget, path, nil) == 0)
                halcyon_image_view_set_content_fit(widget, HALCYON_CONTENT_FIT_COVER)
                halcyon_image_view_set_load_callback(widget, nil, nil, nil)
                halcyon_image_view_reload(widget)
                halcyon_image_view_cancel(widget)
                #expect(halcyon_configure_cache(nil, 0, 0, nil) == 0)
                halcyon_follow_application(nil)
                #expect(halcyon_version() != nil)
            }
        }
        #expect(names.count == 12 && Set(names).count == 12)
        #expect(halcyon_is_image_view(view) != 0 && loads.count == 0)
    }

    // MARK: - The caches

    @Test func imagesAreKeptInTheFolder() async throws {
        let former = ImagePipeline.shared
        defer { ImagePipeline.shared = former }
        let (folder, bytes) = (PipelineFixture.temporaryFolder(), try TestFiles.data("png/rgb8.png"))
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await LoopbackServer(["/a.png": { _ in .init(body: bytes) }])
        let isSet = halcyon_configure_cache(folder.path(percentEncoded: false), 1 << 20, .max, nil)
        let cache = ImagePipeline.shared.cache
        #expect(isSet != 0 && cache.memoryConfiguration.costLimit == 1 << 20 && cache.disk?.sizeLimit == .max)
        let view = try makeView(server.url("/a.png").absoluteString)
        loads.follow(view)
        let window = try await Window.showing(view)
        await Window.run { loads.count == 1 }
        #expect(loads.all.allSatisfy { $0.contains("x") })
        await cache.disk?.flush()
        #expect(await cache.disk?.count() == 1)
        window.close()
        await server.stop()
    }

    @Test func aFolderWithoutANameIsRefused() throws {
        let former = ImagePipeline.shared
        var bytes: [CChar] = [CChar(bitPattern: 0xff), 0]
        for isEmpty in [true, false] {
            var error: UnsafeMutablePointer<GError>?
            let isSet =
                isEmpty ? halcyon_configure_cache("", 0, 0, &error) : halcyon_configure_cache(&bytes, 0, 0, &error)
            #expect(isSet == 0)
            let found = try #require(error)
            #expect(found.pointee.code == Int32(HALCYON_ERROR_PATH.rawValue))
            g_error_free(found)
        }
        #expect(ImagePipeline.shared === former)
    }

    @Test func anApplicationIsFollowed() throws {
        let application = try #require(g_application_new("org.example.halcyon", G_APPLICATION_DEFAULT_FLAGS))
        defer { g_object_unref(application) }
        let signal = g_signal_lookup("shutdown", g_application_get_type())
        #expect(g_signal_has_handler_pending(application, signal, 0, 0) == 0)
        halcyon_follow_application(application)
        #expect(g_signal_has_handler_pending(application, signal, 0, 0) != 0)
    }
}
