import Halcyon
import Testing

@testable import HalcyonGTK

/// The position of a zoomed picture, and the part of it that is loaded.
@Suite struct ZoomPlanTests {
    private func plan(_ zoom: Double?, scaleFactor: Int = 1) -> ZoomPlan {
        ZoomPlan(viewport: (200, 100), image: PixelSize(4000, 1000), zoom: zoom, scaleFactor: scaleFactor)
    }

    @Test func detailWithoutZoomCoversWholeImage() {
        #expect(plan(nil).factor == 0.05)
        #expect(plan(nil).picture == .init(x: 0, y: 25, width: 200, height: 50))
        let detail = plan(nil).detail(at: (0, 0))
        #expect(detail == .init(region: PixelRect(x: 0, y: 0, width: 4000, height: 1000), target: PixelSize(200, 50)))
    }

    @Test func aPartWithSomeBeyond() throws {
        #expect(plan(0.5).picture == .init(x: 0, y: 0, width: 2000, height: 500))
        let detail = try #require(plan(0.5).detail(at: (600, 200)))
        #expect(detail.region == PixelRect(x: 1100, y: 350, width: 600, height: 300))
        #expect(detail.target == PixelSize(300, 150))
        #expect(plan(0.5).frame(of: detail.region) == .init(x: 550, y: 175, width: 300, height: 150))
    }

    /// As many pixels as the screen has, and no more than there are.
    @Test func pixelsOfTheScreen() {
        #expect(plan(0.5, scaleFactor: 2).detail(at: (600, 200))?.target == PixelSize(600, 300))
        let close = plan(8).detail(at: (600, 200))
        #expect(close == .init(region: PixelRect(x: 68, y: 21, width: 39, height: 20), target: PixelSize(39, 20)))
    }

    @Test func loadedDetailCoversSmallScrolls() throws {
        let detail = try #require(plan(0.5).detail(at: (600, 200)))
        for place in [(600.0, 200.0), (560, 180), (649, 224)] { #expect(plan(0.5).isEnough(detail, at: place)) }
        for place in [(540.0, 200.0), (655, 200), (600, 170), (600, 230)] {
            #expect(!plan(0.5).isEnough(detail, at: place))
        }
        // At the image's edges there is nothing more.
        let corner = try #require(plan(0.5).detail(at: (1800, 400)))
        #expect(corner.region == PixelRect(x: 3500, y: 750, width: 500, height: 250))
        #expect(plan(0.5).isEnough(corner, at: (1800, 400)))
        // Closer it needs more pixels, further away it has enough of them but not of the image.
        #expect(!plan(1).isEnough(detail, at: (1200, 400)) && !plan(0.25).isEnough(detail, at: (300, 100)))
    }

    /// Odd sizes and places give a part of the image, or none.
    @Test func detailRegionStaysInsideImage() {
        for zoom in [nil, 0.001, 0.3, 1, 64] as [Double?] {
            for image in [PixelSize(1, 1), PixelSize(1, 30_000), PixelSize(12_000, 9_000)] {
                for place in [(-50.0, -50.0), (0, 0), (1e6, 1e6), (123.4, 567.8)] {
                    let plan = ZoomPlan(viewport: (321.5, 1), image: image, zoom: zoom)
                    guard let detail = plan.detail(at: place) else { continue }
                    #expect(detail.region.clamped(to: image) == detail.region && !detail.target.isEmpty)
                }
            }
        }
    }
}
