import HalcyonImage
import Testing

@Suite struct ResizeGeometryTests {
    struct Case: Sendable {
        let source: PixelSize
        let box: PixelSize
        let mode: ResizeMode
        let upscale: Bool
        let result: PixelSize
    }

    static let cases = [
        Case(source: .init(1024, 768), box: .init(320, 240), mode: .fit, upscale: false, result: .init(320, 240)),
        Case(source: .init(1000, 500), box: .init(320, 240), mode: .fit, upscale: false, result: .init(320, 160)),
        Case(source: .init(500, 1000), box: .init(320, 240), mode: .fit, upscale: false, result: .init(120, 240)),
        Case(source: .init(100, 50), box: .init(320, 240), mode: .fit, upscale: false, result: .init(100, 50)),
        Case(source: .init(100, 50), box: .init(320, 240), mode: .fit, upscale: true, result: .init(320, 160)),
        Case(source: .init(10_000, 1), box: .init(100, 100), mode: .fit, upscale: false, result: .init(100, 1)),
        Case(source: .init(1000, 500), box: .init(320, 240), mode: .fill, upscale: false, result: .init(320, 240)),
        Case(source: .init(100, 50), box: .init(320, 240), mode: .fill, upscale: false, result: .init(67, 50)),
        Case(source: .init(100, 50), box: .init(320, 240), mode: .fill, upscale: true, result: .init(320, 240)),
        Case(source: .init(1000, 500), box: .init(320, 240), mode: .stretch, upscale: false, result: .init(320, 240)),
        Case(source: .init(100, 500), box: .init(320, 240), mode: .stretch, upscale: false, result: .init(100, 240)),
        Case(source: .init(1, 1), box: .init(3, 3), mode: .fit, upscale: false, result: .init(1, 1)),
    ]

    @Test(arguments: cases) func sizes(_ example: Case) {
        let geometry = ResizeGeometry(
            source: example.source, box: example.box, mode: example.mode, upscale: example.upscale)
        #expect(geometry.size == example.result)
    }

    @Test(arguments: [ResizeMode.fit, .fill, .stretch], [false, true])
    func nothingTraps(mode: ResizeMode, upscale: Bool) throws {
        let sides = [0, 1, -1, -5, 7, .max, .min]
        let sizes = sides.flatMap { width in sides.map { PixelSize(width, $0) } }
        let bitmap = try Bitmap(size: PixelSize(1, 1), isOpaque: true, pixels: [0, 0, 0, 255])
        for source in sizes {
            for box in sizes {
                let geometry = ResizeGeometry(source: source, box: box, mode: mode, upscale: upscale)
                guard source.isEmpty || box.isEmpty else {
                    #expect(!geometry.size.isEmpty)
                    continue
                }
                #expect(throws: BitmapError.self) { try bitmap.resampled(geometry) }
            }
        }
    }

    @Test func fillCutsTheMiddle() {
        let geometry = ResizeGeometry(
            source: PixelSize(1000, 500), box: PixelSize(100, 100), mode: .fill, upscale: false)
        #expect(geometry.sourceX == 250)
        #expect(geometry.sourceY == 0)
        #expect(geometry.sourceWidth == 500)
        #expect(geometry.sourceHeight == 500)
    }

    @Test func rectanglesAreClampedWithoutOverflow() {
        let bounds = PixelSize(100, 80)
        #expect(
            PixelRect(x: -10, y: 70, width: 50, height: 50).clamped(to: bounds)
                == .init(x: 0, y: 70, width: 40, height: 10))
        #expect(PixelRect(x: 100, y: 0, width: 5, height: 5).clamped(to: bounds) == nil)
        #expect(
            PixelRect(x: 5, y: 5, width: .max, height: .max).clamped(to: bounds)
                == .init(x: 5, y: 5, width: 95, height: 75))
        #expect(PixelRect(x: .min, y: .min, width: .min, height: .min).clamped(to: bounds) == nil)
    }
}
