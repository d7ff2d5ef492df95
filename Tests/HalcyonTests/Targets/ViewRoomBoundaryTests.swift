import Foundation
import Testing

@testable import Halcyon

/// The size that an image is loaded at for a room, and the rooms that it is too small for.
@Suite struct ViewRoomBoundaryTests {
    private let photo = ImageSource.file(URL(filePath: "/a.png"))
    private let drawing = ImageSource.file(URL(filePath: "/a.svg"))

    private func room(_ width: Int, _ height: Int, _ fit: ContentFit = .contain) -> ViewRoom {
        ViewRoom(pixels: PixelSize(width, height), fit: fit, scaleFactor: 1)
    }

    private func target(_ width: Int, _ height: Int, mode: ResizeMode = .fit, upscale: Bool = false) -> TargetSize {
        TargetSize(PixelSize(width, height), mode: mode, upscale: upscale)
    }

    @Test func eachFitHasItsSize() {
        #expect(room(8, 16, .contain).target(for: photo) == target(8, 16))
        #expect(room(8, 16, .scaleDown).target(for: photo) == target(8, 16))
        #expect(room(8, 16, .cover).target(for: photo) == target(8, 16, mode: .fill))
        #expect(room(8, 16, .fill).target(for: photo) == target(16, 16))
        #expect(room(16, 8, .fill).target(for: photo) == target(16, 16))
    }

    /// A side that the parent makes as long as the image needs does not limit it.
    @Test(arguments: ContentFit.allCases) func aFreeSideHasNoLimit(_ fit: ContentFit) {
        for source in [photo, drawing] {
            #expect(room(.max, 8, fit).target(for: source) == target(.max, 8))
            #expect(room(8, .max, fit).target(for: source) == target(8, .max))
            #expect(room(.max, .max, fit).target(for: source) == nil)
        }
    }

    /// A drawing is drawn as large as its room, unless that would enlarge what must not be.
    @Test func onlyADrawingIsEnlarged() {
        #expect(room(8, 16, .contain).target(for: drawing) == target(8, 16, upscale: true))
        #expect(room(8, 16, .cover).target(for: drawing) == target(8, 16, mode: .fill, upscale: true))
        #expect(room(8, 16, .fill).target(for: drawing) == target(16, 16, upscale: true))
        #expect(room(8, 16, .scaleDown).target(for: drawing) == target(8, 16))
    }

    /// Either side may grow by a quarter.
    @Test(arguments: [(10, 10, false), (11, 8, true), (8, 11, true), (10, 4, false), (4, 10, false), (4, 11, true)])
    func aQuarterIsToleratedOnEachSide(width: Int, height: Int, isOutgrown: Bool) {
        #expect(room(8, 8).isOutgrown(by: room(width, height)) == isOutgrown)
    }

    /// The shape of an image that was cropped may change by a hundredth; that of another one does not matter.
    @Test(arguments: [
        (101, 100, false), (100, 101, false), (102, 100, true), (100, 102, true), (98, 100, true), (100, 98, true),
        (120, 120, false), (50, 50, false),
    ])
    func aHundredthOfTheShapeIsTolerated(width: Int, height: Int, isOutgrown: Bool) {
        #expect(room(100, 100, .cover).isOutgrown(by: room(width, height, .cover)) == isOutgrown)
        #expect(!room(100, 100).isOutgrown(by: room(width, height)))
    }

    @Test func aCropOfAnotherKindIsOutgrown() {
        #expect(room(8, 8, .contain).isOutgrown(by: room(8, 8, .cover)))
        #expect(room(8, 8, .cover).isOutgrown(by: room(8, 8, .contain)))
        #expect(!room(8, 8, .contain).isOutgrown(by: room(8, 8, .fill)))
        #expect(room(.max, .max).isOutgrown(by: room(8, 8)))
    }
}
