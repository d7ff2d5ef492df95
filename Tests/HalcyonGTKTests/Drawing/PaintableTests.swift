import CGTK
import Halcyon
import Testing

@testable import HalcyonGTK

/// The drawing of paintables, pixel by pixel; none of it needs a screen.
@MainActor @Suite struct PaintableTests {
    private let paintable = ImagePaintable()

    private func show(_ image: Image, scale: Double = 1) {
        paintable.show(.init(image, scale: scale))
    }

    private func begin(_ image: Image, _ style: ImageTransition.Style, progress: Double) throws {
        paintable.begin(.init(image), style)
        paintable.progress = progress
    }

    @Test func anImageFitsItsView() throws {
        show(try Colors.image(Colors.red, 20, 10))
        // 40 x 40 for an image twice as wide as high.
        let expected: [(ContentFit, middle: [UInt8], top: [UInt8], corner: [UInt8])] = [
            (.contain, Colors.red, Colors.clear, Colors.clear), (.cover, Colors.red, Colors.red, Colors.red),
            (.fill, Colors.red, Colors.red, Colors.red), (.scaleDown, Colors.red, Colors.clear, Colors.clear),
        ]
        for (fit, middle, top, corner) in expected {
            paintable.contentFit = fit
            let drawn = try Rendering(paintable, width: 40, height: 40)
            #expect(drawn.isClose(20, 20, middle) && drawn.isClose(20, 2, top) && drawn.isClose(1, 1, corner), "\(fit)")
            // As it is, in the middle; or up to the sides.
            #expect(drawn.isClose(2, 20, fit == .scaleDown ? Colors.clear : Colors.red), "\(fit)")
        }
    }

    @Test func theNaturalSizeIsInUnits() throws {
        #expect(gdk_paintable_get_intrinsic_width(paintable.pointer) == 0)
        paintable.sizeHint = (30, 40)
        #expect(gdk_paintable_get_intrinsic_height(paintable.pointer) == 40)
        #expect(gdk_paintable_get_intrinsic_aspect_ratio(paintable.pointer) == 0.75)
        show(try Colors.image(Colors.red, 20, 10), scale: 2)
        #expect(gdk_paintable_get_intrinsic_width(paintable.pointer) == 10)
        #expect(gdk_paintable_get_intrinsic_height(paintable.pointer) == 5)
        paintable.show(nil)
        #expect(gdk_paintable_get_intrinsic_width(paintable.pointer) == 30)
        #expect(try Rendering(paintable, width: 8, height: 8).isClose(4, 4, Colors.clear))
    }

    @Test func halfwayThroughAFade() throws {
        show(try Colors.image(Colors.red, 8, 8))
        try begin(Colors.image(Colors.blue, 8, 8), .crossFade, progress: 0.5)
        #expect(try Rendering(paintable, width: 8, height: 8).isClose(4, 4, [128, 0, 128, 255]))
        paintable.progress = 1
        #expect(try Rendering(paintable, width: 8, height: 8).isClose(4, 4, Colors.blue))
    }

    @Test func fadesInFromNothing() throws {
        try begin(Colors.image(Colors.blue, 8, 8), .crossFade, progress: 0.25)
        #expect(try Rendering(paintable, width: 8, height: 8).isClose(4, 4, [0, 0, 64, 64]))
    }

    @Test(arguments: ImageTransition.Edge.allCases) func halfwayThroughASlide(edge: ImageTransition.Edge) throws {
        show(try Colors.image(Colors.red, 8, 8))
        try begin(Colors.image(Colors.blue, 8, 8), .slide(from: edge), progress: 0.5)
        let drawn = try Rendering(paintable, width: 8, height: 8)
        let isNew = [
            ImageTransition.Edge.left: (2, 4), .right: (6, 4), .top: (4, 2), .bottom: (4, 6),
        ]
        for (side, point) in isNew where [.left, .right].contains(side) == [.left, .right].contains(edge) {
            #expect(drawn.isClose(point.0, point.1, side == edge ? Colors.blue : Colors.red), "\(side)")
        }
    }

    @Test(arguments: ImageTransition.Edge.allCases) func aFlipTurnsTheOldAwayAndTheNewToTheFront(
        edge: ImageTransition.Edge
    ) throws {
        for (progress, color) in [(0.3, Colors.red), (0.7, Colors.blue)] {
            show(try Colors.image(Colors.red, 40, 40))
            try begin(Colors.image(Colors.blue, 40, 40), .flip(from: edge), progress: progress)
            let drawn = try Rendering(paintable, width: 40, height: 40)
            #expect(drawn.isClose(20, 20, color))
            // As narrow as the cosine of 54 degrees.
            let isAcross = edge == .left || edge == .right
            #expect(drawn.isClose(isAcross ? 3 : 20, isAcross ? 20 : 3, Colors.clear))
        }
    }

    @Test func aTextureSharesItsPixelsAndLetsGo() throws {
        weak var bitmap: Bitmap?
        do {
            let image = try Colors.image(Colors.red, 4, 4)
            bitmap = image.bitmap
            let texture = ImageTexture(image.bitmap)
            #expect(gdk_texture_get_width(texture.pointer) == 4)
            paintable.show(.init(image))
        }
        #expect(bitmap != nil)
        paintable.show(nil)
        #expect(bitmap == nil)
    }

    /// A bitmap that is shown in several places has one texture, on the graphics card too.
    @Test func aBitmapHasOneTexture() throws {
        let image = try Colors.image(Colors.red, 4, 4)
        let (first, second) = (ImageTexture(image.bitmap), ImageTexture(image.bitmap))
        #expect(first.pointer == second.pointer && TextureTable.shared.holds(ObjectIdentifier(image.bitmap)))
        #expect(ImageTexture(try Colors.image(Colors.red, 4, 4).bitmap).pointer != first.pointer)
        withExtendedLifetime((first, second)) {}
    }

    /// One that only GTK has is found again; once that has let go there is another.
    @Test func aTextureIsForgottenWithItsLastUse() throws {
        let image = try Colors.image(Colors.red, 4, 4)
        let id = ObjectIdentifier(image.bitmap)
        var pointer: OpaquePointer?
        do {
            let texture = ImageTexture(image.bitmap)
            pointer = texture.pointer
            paintable.show(.init(image))
        }
        #expect(ImageTexture(image.bitmap).pointer == pointer)
        paintable.show(nil)
        #expect(!TextureTable.shared.holds(id))
        let another = ImageTexture(image.bitmap)
        withExtendedLifetime(another) {
            #expect(gdk_texture_get_width(another.pointer) == 4 && TextureTable.shared.holds(id))
        }
    }

    /// Made and let go on several threads at once.
    @Test func texturesOfOneBitmapOnSeveralThreads() async throws {
        let image = try Colors.image(Colors.red, 4, 4)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<2000).allSatisfy { _ in
                        let texture = ImageTexture(image.bitmap)
                        return withExtendedLifetime(texture) { gdk_texture_get_height(texture.pointer) == 4 }
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    /// In the colour of the widget's text, by the image's alpha.
    @Test func aTemplateIsPaintedInTheWidgetsColor() throws {
        try Window.requireScreen()
        let label = try #require(gtk_label_new(""))
        defer { g_object_unref(g_object_ref_sink(label)) }
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, "label { color: rgb(0, 200, 100); }", -1)
        gtk_style_context_add_provider(
            gtk_widget_get_style_context(label), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_USER))
        g_object_unref(provider)
        var image = try Colors.image([128, 0, 0, 128], 8, 8)
        image.isTemplate = true
        paintable.show(.init(image))
        // The image's own colour, as there is no widget yet.
        #expect(try Rendering(paintable, width: 8, height: 8).isClose(4, 4, [128, 0, 0, 128]))
        paintable.follow(label)
        #expect(try Rendering(paintable, width: 8, height: 8).isClose(4, 4, [0, 100, 50, 128]))
    }

    @Test func arrowsPointTheOtherWayWhereTextRunsFromTheRight() throws {
        try Window.requireScreen()
        let label = try #require(gtk_label_new(""))
        defer { g_object_unref(g_object_ref_sink(label)) }
        var image = try Image(
            width: 8, height: 1, pixels: (0..<8).flatMap { $0 < 4 ? [0, 0, 255, 255] : [255, 0, 0, 255] })
        image.mirrorsForRightToLeft = true
        paintable.contentFit = .fill
        paintable.follow(label)
        for (direction, left) in [(GTK_TEXT_DIR_LTR, Colors.red), (GTK_TEXT_DIR_RTL, Colors.blue)] {
            gtk_widget_set_direction(label, direction)
            paintable.show(.init(image))
            #expect(try Rendering(paintable, width: 8, height: 8).isClose(1, 4, left))
        }
    }
}
