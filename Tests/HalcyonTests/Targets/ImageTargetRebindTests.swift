import Foundation
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// Targets that are bound anew all the time, as the rows of a list.
@MainActor @Suite(.timeLimit(.minutes(60))) struct ImageTargetRebindTests: TargetSuite {
    let fixture = PipelineFixture()
    private let screen = TargetScreen()
    let ends = TargetEnds()

    /// None ever shows another's image.
    @Test func manyRebindsNeverShowAWrongImage() async throws {
        let count = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 10_000 : 1_000_000
        let fixture = PipelineFixture(disk: false) {
            $0.cache = ImageCache(memory: .init(countLimit: 100), disk: nil)
        }
        let data = try (1...300).map { try image($0).data(as: .png) }
        let targets = (0..<200).map { _ in ImageTarget { _ in } }
        var wanted = [Int](repeating: 0, count: targets.count)
        var (ended, shown, wrong) = (0, 0, 0)
        var random = SplitMix(state: 7)
        for round in 0..<count {
            let (row, width) = (Int.random(in: 0..<200, using: &random), Int.random(in: 1...300, using: &random))
            wanted[row] = width
            let delay = Int.random(in: 0..<4, using: &random)
            let source = ImageSource.provider(Late(cacheKey: "\(width)", bytes: data[width - 1], turns: delay))
            targets[row].setImage(ImageRequest(source), pipeline: fixture.pipeline) { end in
                ended += 1
                guard case .shown(let response) = end else { return }
                shown += 1
                if response.image.width != width || wanted[row] != width { wrong += 1 }
            }
            if round % 20 == 0 { await Task.yield() }
            let others = targets.indices.filter { round % 97 == 0 && targets[$0].content.image != nil }
            // The visible image is that of the last request, or there is none yet.
            for row in others where targets[row].isShown { #expect(targets[row].content.image?.width == wanted[row]) }
        }
        while ended < count { await Task.yield() }
        #expect(wrong == 0 && shown > count / 100)
        for (row, target) in targets.enumerated() where wanted[row] > 0 {
            #expect(target.content.image?.width == wanted[row])
        }
    }

    private struct Late: ImageDataProvider {
        var cacheKey: String
        var bytes: Data
        var turns: Int

        func data() async throws -> Data {
            for _ in 0..<turns { await Task.yield() }
            return bytes
        }
    }

    @Test func hitsInMemoryNeverShowAPlaceholder() async throws {
        let urls = try ["png/rgb8.png", "png/rgba8.png", "jpeg/gray.jpg"].map { try fixture.serve($0) }
        for url in urls { _ = try await fixture.pipeline.image(for: url) }
        let target = ImageTarget(surface: screen)
        for round in 0..<10_000 { set(target, urls[round % 3], .init(placeholder: .custom("grey"))) }
        #expect(screen.contents.count == 10_000 && !screen.contents.contains("placeholder grey"))
        #expect(ends.all.count == 10_000)
    }
}

extension ImageTarget {
    fileprivate var isShown: Bool {
        if case .showing = state { true } else { false }
    }
}
