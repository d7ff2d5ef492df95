import Halcyon
import ImageURLs
import Testing

@testable import HalcyonServer

/// Sizes and places as imgproxy 3 has them: figures of its own test tables where they exist, and else its rules with the arithmetic
/// beside. It rounds sides half up (`imath.Scale`), and places, offsets and room half to even (`imath.ScaleToEven`).
@Suite struct ImgproxyGeometryTests {
    private static func job(_ options: String) throws -> ImageJob {
        var configuration = ImgproxyURL.Configuration()
        configuration.allowsLimits = true
        let grammar = ImgproxyURL(keys: try .imgproxy([], policy: .unsignedWithoutKeys), configuration: configuration)
        return try grammar.job(at: "/_/\(options)/plain/http://images.test/a.jpg")
    }

    private static func geometry(
        _ options: String, _ width: Int, _ height: Int, trimmed: PixelRect? = nil, orientation: Orientation = .up
    ) throws -> JobGeometry {
        JobGeometry(
            try job(options), source: PixelSize(width, height), trimmed: trimmed, orientation: orientation,
            isVector: false)
    }

    private static func size(_ options: String, _ width: Int = 200, _ height: Int = 100) throws -> PixelSize {
        let job = try job(options)
        var steps = JobSteps(
            job: job, geometry: JobGeometry(job, source: PixelSize(width, height), isVector: false))
        try steps.addAll()
        return steps.size
    }

    // MARK: - imgproxy's own tables

    /// `TestResizeTo…` of its processing_test.go: boxes and results for a source of 200 x 100.
    @Test(arguments: [
        ("rs:fit", "50x50=50x25 50x20=40x20 20x50=20x10 300x300=200x100 300x50=100x50 100x300=100x50"),
        ("rs:fit", "0x50=100x50 50x0=50x25 0x200=200x100 300x0=200x100"),
        ("rs:fit/el:1", "50x50=50x25 300x300=300x150 300x125=250x125 250x300=250x125 0x200=400x200 300x0=300x150"),
        ("rs:fit/ex:1", "50x50=50x50 50x20=50x20 300x300=300x300 300x125=300x125 0x200=200x200 300x0=300x100"),
        ("rs:fit/exar:1", "50x50=50x50 300x300=200x200 300x125=240x100 250x500=200x400 0x200=200x100 300x0=200x100"),
        (
            "rs:fill",
            "50x50=50x50 50x20=50x20 300x300=200x100 300x50=200x50 100x300=100x100 0x200=200x100 300x0=200x100"
        ),
        ("rs:fill/el:1", "50x50=50x50 300x300=300x300 300x125=300x125 250x300=250x300 0x200=400x200 300x0=300x150"),
        ("rs:fill/ex:1", "300x300=300x300 300x50=300x50 100x300=100x300 0x50=100x50 0x200=200x200 300x0=300x100"),
        (
            "rs:fill/exar:1",
            "300x300=200x200 300x125=240x100 250x500=200x400 300x50=300x50 100x300=100x300 0x200=200x100"
        ),
        ("rs:fill-down", "50x50=50x50 300x300=100x100 300x125=200x83 250x300=83x100 0x50=100x50 0x200=200x100"),
        ("rs:fill-down", "300x0=200x100 50x0=50x25"),
        ("rs:fill-down/el:1", "300x300=300x300 300x125=300x125 250x300=250x300 0x200=400x200 300x0=300x150"),
        ("rs:fill-down/ex:1", "300x300=300x300 300x50=300x50 100x300=100x300 0x200=200x200 300x0=300x100"),
        ("rs:fill-down/exar:1", "300x125=200x83 250x300=83x100 0x200=200x100 300x0=200x100"),
    ])
    func sizesOfASourceOf200x100(options: String, rows: String) throws {
        for row in rows.split(separator: " ") {
            let sides = row.split(whereSeparator: { "x=".contains($0) }).compactMap { Int($0) }
            let found = try Self.size("\(options)/s:\(sides[0]):\(sides[1])")
            #expect(found == PixelSize(sides[2], sides[3]), "\(options) \(row)")
        }
    }

    /// `TestResultSizeLimit` of its processing_test.go, source 200 x 100.
    @Test(arguments: [
        ("mrd:1000/rs:fit:100:100", 100, 50), ("mrd:50/rs:fit:100:100", 50, 25), ("mrd:50/rs:fit:0:0", 50, 25),
        ("mrd:50/rs:fit:150:0", 50, 25), ("mrd:100/rs:fit:1000:1000", 100, 50),
        ("mrd:100/rs:fit:1000:1000:1", 100, 50), ("mrd:100/rs:fit:1000:2000:0:1", 50, 100),
        ("mrd:100/rs:fit:1000:2000/exar:1", 50, 100), ("mrd:100/rs:fit:100:150/rot:90", 50, 100),
        ("mrd:100/rot:90", 50, 100), ("mrd:200/rs:fit:100:100/pd:100:200:300:400", 200, 129),
        ("mrd:50/rs:fill:100:100", 50, 50), ("mrd:50/rs:fill:1000:50", 50, 13), ("mrd:50/rs:fill:100:1000", 50, 50),
        ("mrd:100/rs:fill:1000:1000", 100, 50), ("mrd:100/rs:fill:1000:1000:1", 100, 100),
        ("mrd:100/rs:fill:1000:2000:0:1", 50, 100), ("mrd:100/rs:fill:100:150/rot:90", 67, 100),
        ("mrd:200/rs:fill:100:100/pd:100:200:300:400", 200, 144), ("mrd:50/rs:fill-down:1000:50", 50, 3),
        ("mrd:50/rs:fill-down:100:1000", 5, 50), ("mrd:100/rs:fill-down:1000:1500/rot:90", 67, 100),
        ("mrd:200/rs:fill-down:1000:1000/pd:100:200:300:400", 200, 144),
    ])
    func resultsWithALimit(options: String, width: Int, height: Int) throws {
        #expect(try Self.size(options) == PixelSize(width, height))
    }

    /// `crop_test.go`, `extend_test.go` and `padding_test.go`, source 200 x 100.
    @Test(arguments: [
        ("rs:fill:100:26", 100, 26), ("rs:fill:26:100", 26, 100), ("rs:fill:100:26/dpr:2", 200, 52),
        ("rs:fill:100:26/g:no:0:5/dpr:0.5", 50, 13), ("rs:fill:26:100/g:no:5:0/dpr:0.5", 13, 50),
        ("rs:fill:26:100/dpr:2", 26, 100), ("c:50:50", 50, 50), ("c:50:50:ce:10:10/dpr:0.5", 25, 25),
        ("s:500:500:0:1", 500, 500), ("s:500:500:0:1/dpr:0.5", 250, 250), ("s:500:500:0:1/dpr:2", 500, 500),
        ("s:300:600/exar:1", 200, 400), ("s:300:600/exar:1/dpr:0.5", 150, 300), ("s:300:600/exar:1/dpr:2", 200, 400),
        ("pd:20:30:40:10/el:1/dpr:0.5", 120, 80), ("pd:20:30:40:10/el:1", 240, 160),
        ("pd:20:30:40:10/el:1/dpr:2", 480, 320),
    ])
    func ratiosOfDevicePixels(options: String, width: Int, height: Int) throws {
        #expect(try Self.size(options) == PixelSize(width, height))
    }

    // MARK: - Derived from its rules

    @Test(arguments: [
        // 101 / 3 = 33.67, 50 / 3 = 16.67: half up.
        ("w:34", 101, 50, 34, 17),
        // 1 / (1001 / 500) * 333 = 166.33.
        ("w:500", 1001, 333, 500, 166),
        // A side of 2.5 is 3: 5 * 0.5.
        ("z:0.5", 5, 5, 3, 3),
        // The least width is not multiplied by the zoom: shrink 2 / 0.5 = 4, limit 1000 / 400 = 2.5.
        ("w:500/z:0.5/mw:400", 1000, 500, 250, 200),
        // But by the ratio: (1000 / 400) / 2 = 1.25, cut to 100 * 2.
        ("w:100/mw:400/dpr:2", 1000, 500, 200, 400),
        // Smaller than was asked for, a ratio below 1 reduces less: 0.5 / (100 / 150) = 0.75.
        ("w:150/dpr:0.5", 100, 100, 75, 75),
        // ... and not at all where it is so small that the picture reaches it: 0.5 / 0.5 = 1.
        ("w:200/dpr:0.5", 100, 100, 100, 100),
        // The larger ratio is that of the pixels that are there, also for the room: 1000 / 400 = 2.5, 10 * 2.5 = 25.
        ("w:400/dpr:4/pd:10", 1000, 500, 1050, 550),
        // Room is rounded half to even: 5 * 0.5 = 2.5 is 2, 7 * 0.5 = 3.5 is 4.
        ("pd:5:7:5:7/dpr:0.5", 100, 100, 58, 54),
        // One side with `force` stays as it is.
        ("rs:force:50:0", 200, 100, 50, 100),
        // Wide and wide is `fill`, wide and tall `fit`; a side that is missing is that of the source.
        ("rs:auto:50:20", 200, 100, 50, 20), ("rs:auto:20:50", 200, 100, 20, 10), ("rs:auto:50:0", 200, 100, 50, 25),
        // A crop of 12.9 pixels has 12, and one of 0.5 % of 100 has 1 at least: 0.5 is 1.
        ("c:12.9:0.005", 200, 100, 12, 1),
        // In a turned picture the crop is turned with it, and is cut down to it.
        ("c:150:60/rot:90", 200, 100, 100, 60),
        // 5 * (200 / 3) / ... of three thirds: the canvas is 100 * (300 / 125) = 240.
        ("rs:fill-down:300:125/exar:1/el:0", 200, 100, 200, 83),
    ])
    func sizes(options: String, width: Int, height: Int, resultWidth: Int, resultHeight: Int) throws {
        #expect(try Self.size(options, width, height) == PixelSize(resultWidth, resultHeight))
    }

    /// The middle is (room + 1) / 2, half to even: 1, 2, 2, 2, 3, 4 for 1, 2, 3, 4, 5, 6 pixels of room.
    @Test(arguments: [(1, 1), (2, 2), (3, 2), (4, 2), (5, 3), (6, 4), (7, 4), (8, 4), (9, 5), (10, 6)])
    func theMiddle(room: Int, place: Int) throws {
        let across = try Self.geometry("rs:fill:10:20", 10 + room, 20)
        #expect(across.cut == PixelRect(x: min(place, room), y: 0, width: 10, height: 20))
        let down = try Self.geometry("c:20:10", 20, 10 + room)
        #expect(down.part == PixelRect(x: 0, y: min(place, room), width: 20, height: 10))
    }

    @Test(arguments: [
        ("g:no:5:5", 25, 0), ("g:we:7:0", 7, 0), ("g:ea:7:0", 33, 0), ("g:soea:0.1:0", 34, 0), ("g:nowe:0.1:0", 6, 0),
        // 61 * 0.25 = 15.25 less 20 / 2 = 5; half of an odd side is rounded down.
        ("g:fp:0.25:0.5", 5, 0), ("g:fp:0.5:0.5", 20, 0), ("g:fp:0.9:0.5", 40, 0),
        // Offsets end at the edges, and go with the ratio that was reached.
        ("g:ea:-7:0", 40, 0), ("g:we:100:0", 40, 0),
    ])
    func placesOfACutOf20In60(gravity: String, x: Int, y: Int) throws {
        let geometry = try Self.geometry("rs:fill:20:20/\(gravity)", 60, 20)
        #expect(geometry.cut == PixelRect(x: x, y: y, width: 20, height: 20))
    }

    @Test func offsetsGoWithTheRatioExceptInACrop() throws {
        #expect(try Self.geometry("rs:fill:20:20/g:we:7:0/dpr:2", 120, 40).cut?.x == 14)
        // 3 * 0.5 = 1.5 is 2, 5 * 0.5 = 2.5 is 2.
        #expect(try Self.geometry("rs:fill:20:20/g:we:3:0/dpr:0.5", 60, 20).cut?.x == 2)
        #expect(try Self.geometry("rs:fill:20:20/g:we:5:0/dpr:0.5", 60, 20).cut?.x == 2)
        #expect(try Self.geometry("c:20:20:we:7:0/dpr:2", 60, 20).part?.x == 7)
    }

    /// The crop is stated in the turned picture: its top right corner is the top left one of the file after 90 degrees, and so on.
    @Test(arguments: [
        ("c:30:20:noea/rot:0", PixelRect(x: 170, y: 0, width: 30, height: 20)),
        ("c:30:20:noea/rot:90", PixelRect(x: 0, y: 0, width: 20, height: 30)),
        ("c:30:20:noea/rot:180", PixelRect(x: 0, y: 80, width: 30, height: 20)),
        ("c:30:20:noea/rot:270", PixelRect(x: 180, y: 70, width: 20, height: 30)),
        // 5 to the right of the left edge and 7 down, in the turned picture of 100 x 200.
        ("c:30:20:nowe:5:7/rot:90", PixelRect(x: 7, y: 65, width: 20, height: 30)),
        ("c:30:20:nowe:5:7/rot:270", PixelRect(x: 173, y: 5, width: 20, height: 30)),
        // The middle is that of the file: 171 of room is 86, 81 is 41.
        ("c:29:19/rot:0", PixelRect(x: 86, y: 41, width: 29, height: 19)),
        ("c:29:19/rot:180", PixelRect(x: 86, y: 41, width: 29, height: 19)),
        ("c:19:29/rot:90", PixelRect(x: 86, y: 41, width: 29, height: 19)),
        // Mirrored, the left edge is the file's right one, and the middle is still that of the file.
        ("c:30:20:nowe:5:7/fl:1", PixelRect(x: 165, y: 7, width: 30, height: 20)),
        ("c:30:20:nowe:5:7/fl:0:1", PixelRect(x: 5, y: 73, width: 30, height: 20)),
        ("c:29:19/fl:1:1", PixelRect(x: 86, y: 41, width: 29, height: 19)),
        // Turned first, mirrored then: 5 from the right edge of 100 x 200 before the mirror.
        ("c:30:20:nowe:5:7/rot:90/fl:1", PixelRect(x: 7, y: 5, width: 20, height: 30)),
    ])
    func cropsOfATurnedPicture(options: String, part: PixelRect) throws {
        #expect(try Self.geometry(options, 200, 100).part == part)
    }

    /// The middle of a crop is found in the pixels of the file, before its orientation is applied.
    @Test(arguments: [
        (Orientation.up, 2, 2), (.upMirrored, 0, 2), (.down, 0, 0), (.downMirrored, 2, 0), (.leftMirrored, 2, 2),
        (.right, 0, 2), (.rightMirrored, 0, 0), (.left, 2, 0),
    ])
    func theMiddleOfAFileWithAnOrientation(orientation: Orientation, x: Int, y: Int) throws {
        // Room of 2 pixels on both axes: 2 from the near edge of the file, 0 from the far one.
        let part = try Self.geometry("c:10:10", 12, 12, orientation: orientation).part
        #expect(part == PixelRect(x: x, y: y, width: 10, height: 10))
    }

    @Test func canvases() throws {
        // (250 - 200 + 1) / 2 = 25.5 is 26, (150 - 100 + 1) / 2 = 25.5 as well.
        let place = JobGeometry.Place(.center, ratio: 1).rect(of: PixelSize(200, 100), in: PixelSize(250, 150))
        #expect(place == PixelRect(x: 26, y: 26, width: 200, height: 100))
        // A watermark may be outside but for one pixel.
        let mark = JobGeometry.Place(.compass(.right, x: .pixels(-1000)), ratio: 1)
            .rect(of: PixelSize(20, 10), in: PixelSize(50, 50), overflows: true)
        #expect(mark.x == 49)
        let large = JobGeometry.Place(.center, ratio: 1)
            .rect(of: PixelSize(100, 100), in: PixelSize(50, 50), overflows: true)
        // (50 - 100 + 1) / 2 = -24.5 is -24.
        #expect(large.x == -24)
    }
}
