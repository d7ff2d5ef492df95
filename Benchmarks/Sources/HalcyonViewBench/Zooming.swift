import BenchSupport
import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// Measures a very large picture in a window.
@MainActor enum Zooming {
    private static let size = PixelSize(12_000, 9_000)
    private static let allowed = 128 << 20

    /// Zooms in step by step, at a few places each time, and measures the growth of memory and the time until a place
    /// is sharp.
    ///
    /// - Parameter file: A picture of 12,000 x 9,000 pixels.
    static func run(_ file: URL) async throws {
        let pipeline = ImagePipeline(configuration: .init(cache: ImageCache(disk: nil)))
        let zoomed = ZoomView()
        let window = try ViewWindow(zoomed.widget, 1100, 760)
        // GTK's own pages do not count as the picture's memory.
        try await Task.sleep(for: .seconds(1))
        Resident.reset()
        let before = Resident.now
        zoomed.view.setImage(from: file, pipeline: pipeline)
        try await wait { zoomed.shownZoom != nil }
        guard zoomed.view.content.image?.info.size == size else {
            throw BenchFailure("\(file.path) is another picture")
        }
        var times: [Double] = []
        for zoom in [0.25, 0.5, 1, 2, 8] {
            zoomed.zoom = zoom
            for (x, y) in [(0.2, 0.1), (0.5, 0.5), (0.9, 0.95)] {
                let start = ContinuousClock.now
                zoomed.center(x: x * Double(size.width), y: y * Double(size.height))
                try await wait { zoomed.isSharp }
                times.append((ContinuousClock.now - start) / .milliseconds(1))
            }
        }
        let growth = Resident.peak - before
        times.sort()
        print(
            "zoom: 12,000 x 9,000 pixels at 15 places, grows by \(mebibytes(growth)), "
                + (growth <= allowed ? "within " : "MORE THAN ") + mebibytes(allowed)
                + String(format: "; sharp after %.0f ms (median), %.0f ms (most)", times[7], times[14]))
        window.close()
    }

    private static func wait(_ isThere: () -> Bool) async throws {
        let limit = ContinuousClock.now + .seconds(60)
        while !isThere() {
            guard ContinuousClock.now < limit else { throw BenchFailure("nothing came") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
