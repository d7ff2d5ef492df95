import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// Measures a scrolled list: 120 rebinds a second over 1,000 images for 20 seconds.
@MainActor enum Scrolling {
    /// 1,000 images of 200 x 150 pixels, which arrive with delays of up to 59 milliseconds.
    private struct Pictures: ImageDataProvider {
        let number: Int
        let bytes: Data

        var cacheKey: String { "scroll \(number)" }

        func data() async throws -> Data {
            try await Task.sleep(for: .milliseconds(number * 7 % 60))
            return bytes
        }
    }

    static func run() async throws {
        let files = try (0..<20).map { index in
            let bitmap = try Bitmap(size: PixelSize(200, 150), isOpaque: true) { bytes in
                for offset in 0..<bytes.count {
                    bytes[offset] = offset % 4 == 3 ? 255 : UInt8((offset / 800 * (index + 1) + offset % 800) & 255)
                }
            }
            return try Image(bitmap: bitmap, info: ImageInfo(format: .jpeg, size: PixelSize(200, 150))).data(as: .jpeg)
        }
        let requests = (0..<1000).map { ImageRequest(.provider(Pictures(number: $0, bytes: files[$0 % 20]))) }
        guard let grid = gtk_grid_new() else { throw BenchFailure("no grid") }
        let views = (0..<48).map { index in
            let view = ImageView()
            gtk_widget_set_size_request(view.widget, 120, 90)
            gtk_grid_attach(
                UnsafeMutableRawPointer(grid).assumingMemoryBound(to: GtkGrid.self), view.widget, Int32(index % 8),
                Int32(index / 8), 1, 1)
            return view
        }
        let pipeline = ImagePipeline(configuration: .init(cache: ImageCache(disk: nil)))
        let window = try ViewWindow(grid, 960, 540)
        try await Task.sleep(for: .seconds(1))
        TimedMainQueue.reset()
        let (start, before) = (ContinuousClock.now, processorSeconds())
        var (bound, ended) = (0, 0)
        while ContinuousClock.now - start < .seconds(20) {
            let due = Int((ContinuousClock.now - start) / .milliseconds(1) * 0.12)
            while bound < due {
                // The list is scrolled down and up again: the second half is in memory.
                let position = bound % 2000 < 1000 ? bound % 2000 : 1999 - bound % 2000
                views[bound % views.count].setImage(
                    requests[position], options: .init(transition: .fade(.milliseconds(200))), pipeline: pipeline
                ) { _ in ended += 1 }
                bound += 1
            }
            try await Task.sleep(for: .milliseconds(4))
        }
        let cost = (processorSeconds() - before) / 20
        print(
            "scroll: \(bound) rebinds in 20 s, \(ended) ends; \(TimedMainQueue.slices.count) slices of the main thread: "
                + "median \(microseconds(0.5)), p99 \(microseconds(0.99)), longest \(microseconds(1)); "
                + "\((cost * 1000).rounded() / 10) % of a core with GTK's drawing")
        window.close()
        await pipeline.shutdown()
    }

    private static func microseconds(_ share: Double) -> String {
        "\(Int((TimedMainQueue.percentile(share) * 1000).rounded())) us"
    }
}
