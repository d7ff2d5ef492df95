import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Views that a list gives one image after the other.
@MainActor @Suite(.serialized, .timeLimit(.minutes(60))) struct RecycledViewTests {
    /// Bytes that arrive after a number of turns of the tests' threads.
    private struct Late: ImageDataProvider {
        let cacheKey: String
        let bytes: Data
        let turns: Int

        func data() async throws -> Data {
            for _ in 0..<turns { await Task.yield() }
            return bytes
        }
    }

    private func fixture() -> PipelineFixture {
        PipelineFixture(disk: false) {
            $0.cache = ImageCache(memory: .init(countLimit: 100), disk: nil, memoryPressure: nil)
        }
    }

    /// With a size of its own, so that the load does not wait for a layout.
    private func request(_ source: ImageSource) -> ImageRequest {
        var request = ImageRequest(source)
        request.decode.target = TargetSize(PixelSize(1000, 1000))
        return request
    }

    /// Returns the width of the shown image, which identifies it.
    private func shownWidth(_ view: ImageView) -> Int {
        Int(gdk_paintable_get_intrinsic_width(view.paintable.pointer))
    }

    /// A million where the long counts are requested.
    @Test func manyRebindsNeverShowAWrongImage() async throws {
        try Window.requireScreen()
        let count = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 10_000 : 1_000_000
        let fixture = fixture()
        let data = try (1...300).map { try Colors.image(Colors.red, $0, 1).data(as: .png) }
        let views = (0..<200).map { _ in ImageView() }
        var wanted = [Int](repeating: 0, count: views.count)
        var (ended, shown, wrong) = (0, 0, 0)
        var random = SplitMix(state: 11)
        for round in 0..<count {
            let (row, width) = (Int.random(in: 0..<200, using: &random), Int.random(in: 1...300, using: &random))
            wanted[row] = width
            let late = Late(
                cacheKey: "\(width)", bytes: data[width - 1], turns: Int.random(in: 0..<4, using: &random))
            views[row].setImage(request(.provider(late)), pipeline: fixture.pipeline) {
                [unowned view = views[row]] end in
                ended += 1
                guard case .shown = end else { return }
                shown += 1
                if shownWidth(view) != width || wanted[row] != width { wrong += 1 }
            }
            if round % 20 == 0 { await Task.yield() }
            // The last requested image, or nothing of it yet.
            if ![0, wanted[row]].contains(shownWidth(views[row])) { wrong += 1 }
        }
        while ended < count { await Task.yield() }
        #expect(wrong == 0 && shown > count / 100)
        for (row, view) in views.enumerated() where wanted[row] > 0 { #expect(shownWidth(view) == wanted[row]) }
    }

    @Test func hitsInMemoryNeverShowAPlaceholder() async throws {
        try Window.requireScreen()
        let fixture = fixture()
        let requests = try (10...12).map { width in
            request(
                .provider(
                    Late(
                        cacheKey: "\(width)", bytes: try Colors.image(Colors.red, width, 1).data(as: .png), turns: 0)))
        }
        for request in requests { _ = try await fixture.pipeline.image(for: request) }
        let view = ImageView()
        let placeholder = ImageTarget.Placeholder.image(try Colors.image(Colors.blue, 3, 1))
        var (wrong, transitions) = (0, 0)
        for round in 0..<10_000 {
            view.setImage(
                requests[round % 3], options: .init(placeholder: placeholder, transition: .fade()),
                pipeline: fixture.pipeline)
            if shownWidth(view) != 10 + round % 3 { wrong += 1 }
            if view.transition != nil { transitions += 1 }
        }
        #expect(wrong == 0 && transitions == 0)
    }
}
