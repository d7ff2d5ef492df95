import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// Measures animations in a view.
@MainActor enum Playing {
    /// Makes an animation of two seconds at 25 frames a second: a square that moves over a picture.
    private static func animation(_ side: Int) throws -> Image {
        let size = PixelSize(side, side)
        let frames = try (0..<50).map { index in
            let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
                for y in 0..<side {
                    for x in 0..<side {
                        let offset = (y * side + x) * 4
                        let isSquare = abs(x - index * side / 50) < side / 8 && abs(y - side / 2) < side / 8
                        bytes[offset] = isSquare ? 40 : UInt8(x * 255 / side)
                        bytes[offset + 1] = isSquare ? 40 : UInt8(y * 255 / side)
                        bytes[offset + 2] = isSquare ? 220 : UInt8((x / 8 * 8 ^ y / 8 * 8) & 255)
                        bytes[offset + 3] = 255
                    }
                }
            }
            return (Image(bitmap: bitmap, info: ImageInfo(format: .gif, size: size)), Duration.milliseconds(40))
        }
        let animation = try AnimatedImage(frames: frames)
        let image = Image(
            bitmap: try animation.frame(at: 0), info: ImageInfo(format: .gif, size: size, frameCount: 50),
            animation: animation)
        return try CoderRegistry.shared.decode(CoderRegistry.shared.encode(image, as: .gif))
    }

    private static func shown(_ side: Int) async throws -> (AnimatedImageView, ViewWindow) {
        let view = AnimatedImageView()
        view.repeatCount = .infinite
        let window = try ViewWindow(view.widget, Int32(side), Int32(side))
        view.showImage(try animation(side))
        try await Task.sleep(for: .seconds(1))
        guard view.isPlaying else { throw BenchFailure("the animation does not play") }
        return (view, window)
    }

    /// Measures the lateness of frames, beside the frame clock's own ticks.
    static func timing() async throws {
        let (view, window) = try await shown(200)
        guard let player = view.player else { throw BenchFailure("no player") }
        var (last, shown, errors) = (ContinuousClock.now, 0, [Double]())
        player.onFrame = { _, _ in
            let now = ContinuousClock.now
            if shown > 0 { errors.append(abs((now - last) / .milliseconds(1) - 40)) }
            (last, shown) = (now, shown + 1)
        }
        try await Task.sleep(for: .seconds(10))
        errors.sort()
        let tick = 1000.0 / 60
        let within = errors.filter { $0 <= tick }.count
        print(
            "timing: \(shown) frames in 10 s (250 are due); an interval differs from 40 ms by "
                + "\(milliseconds(errors[errors.count / 2])) (median), \(milliseconds(errors[errors.count * 99 / 100])) (p99); "
                + "\(within * 100 / errors.count) % within one tick of 16.7 ms")
        window.close()
    }

    /// Measures a GIF of 480 x 480 at 25 frames a second.
    static func cost() async throws {
        let (view, window) = try await shown(480)
        let playing = try await share()
        guard view.isPlaying else { throw BenchFailure("the animation has stopped") }
        view.stop()
        try await Task.sleep(for: .seconds(1))
        let standing = try await share()
        // The same frames, drawn by GTK alone from ready-made textures.
        guard let image = view.content.image, let animation = image.animation else { throw BenchFailure("no image") }
        let textures = try (0..<animation.frameCount).map { image.replacing(try animation.frame(at: $0)).makeTexture() }
        let picture = gtk_picture_new()
        guard let picture else { throw BenchFailure("no picture") }
        window.close()
        let other = try ViewWindow(picture, 480, 480)
        var index = 0
        let drawing = Task { @MainActor in
            while !Task.isCancelled {
                index = (index + 1) % textures.count
                gtk_picture_set_paintable(OpaquePointer(picture), textures[index])
                try await Task.sleep(for: .milliseconds(40))
            }
        }
        try await Task.sleep(for: .seconds(1))
        let floor = try await share()
        drawing.cancel()
        other.close()
        for texture in textures { g_object_unref(UnsafeMutableRawPointer(texture)) }
        let plain = try await plainDrawing()
        print(
            "gif: 480 x 480 at 25 frames a second takes \(percent(playing)) of a core; GTK's own drawing of the same textures "
                + "takes \(percent(floor)), of one colour \(percent(plain)); stopped it takes \(percent(standing))")
    }

    /// Measures the cost of the window itself: a square of one colour, 25 times a second.
    private static func plainDrawing() async throws -> Double {
        guard let area = gtk_drawing_area_new() else { throw BenchFailure("no widget") }
        gtk_drawing_area_set_draw_func(
            UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkDrawingArea.self),
            { _, cairo, _, _, _ in
                cairo_set_source_rgb(cairo, 0.2, 0.4, 0.6)
                cairo_paint(cairo)
            }, nil, nil)
        let window = try ViewWindow(area, 480, 480)
        let drawing = Task { @MainActor in
            while !Task.isCancelled {
                gtk_widget_queue_draw(area)
                try await Task.sleep(for: .milliseconds(40))
            }
        }
        try await Task.sleep(for: .seconds(1))
        let share = try await share()
        drawing.cancel()
        window.close()
        return share
    }

    /// Measures twenty playing views in a hidden window.
    static func hidden() async throws {
        let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)
        guard let box else { throw BenchFailure("no box") }
        let image = try animation(100)
        let views = (0..<20).map { _ in
            let view = AnimatedImageView()
            view.repeatCount = .infinite
            gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), view.widget)
            view.showImage(image)
            return view
        }
        let window = try ViewWindow(box, 800, 100)
        try await Task.sleep(for: .seconds(1))
        guard views.allSatisfy(\.isPlaying) else { throw BenchFailure("the animations do not play") }
        let seen = try await share()
        window.minimize()
        try await Task.sleep(for: .seconds(1))
        let hidden = try await share()
        print(
            "hidden: 20 views of 100 x 100 take \(percent(seen)) of a core, hidden \(percent(hidden)); "
                + "frames kept then: \(FramePool.shared.keptBytes) bytes")
        withExtendedLifetime(views) { window.close() }
    }

    /// Returns the processor time as a share of one core, over five seconds.
    private static func share() async throws -> Double {
        let (start, before) = (ContinuousClock.now, processorSeconds())
        try await Task.sleep(for: .seconds(5))
        return (processorSeconds() - before) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private static func percent(_ share: Double) -> String { "\((share * 1000).rounded() / 10) %" }
    private static func milliseconds(_ value: Double) -> String { "\((value * 10).rounded() / 10) ms" }
}
