import Foundation
import Halcyon
import ImageURLs
import Testing

@testable import HalcyonServer

/// Sizes and places, as imgproxy's documentation states them.
@Suite struct JobGeometryTests {
    private static func job(_ options: String) throws -> ImageJob {
        let grammar = ImgproxyURL(keys: try .imgproxy([], policy: .unsignedWithoutKeys))
        return try grammar.job(at: "/_/\(options)/plain/http://images.test/a.jpg")
    }

    private static func steps(_ options: String, _ size: PixelSize) throws -> JobSteps {
        let job = try job(options)
        var steps = JobSteps(job: job, geometry: JobGeometry(job, source: size, isVector: false))
        try steps.addAll()
        return steps
    }

    @Test(arguments: [
        ("rs:fit:300:300", 300, 150), ("rs:fill:300:300", 300, 300), ("rs:fill:2000:2000", 1000, 500),
        ("rs:fill:2000:2000:1", 2000, 2000), ("rs:fill-down:2000:2000", 500, 500), ("rs:fill-down:300:300", 300, 300),
        ("rs:force:100:400", 100, 400), ("rs:force:100:0", 100, 500), ("rs:auto:300:200", 300, 200),
        ("rs:auto:200:300", 200, 100), ("w:300", 300, 150), ("h:100", 200, 100), ("rs:fit:2000:2000", 1000, 500),
        ("rs:fit:2000:2000:1", 2000, 1000), ("w:300/dpr:2", 600, 300), ("w:300/dpr:4", 1000, 500),
        ("w:300/z:2", 600, 300), ("w:300/z:2:1", 600, 150), ("mw:2000", 2000, 1000), ("mh:1000", 2000, 1000),
        ("rs:fit:100:100/mw:400", 100, 100), ("c:400:400", 400, 400), ("c:0.5:0.5", 500, 250), ("c:400:0", 400, 500),
        ("c:400:200/rs:fit:100:100", 100, 50), ("rot:90/rs:fit:300:300", 150, 300), ("rot:180", 1000, 500),
        ("w:300/pd:10:20", 340, 170), ("w:300/pd:10/dpr:2", 640, 340), ("rs:fit:300:300:0:1", 300, 300),
        ("rs:fit:300:300/exar:1", 300, 300), ("rs:fit:0:0", 1000, 500), ("w:1", 1, 1),
    ])
    func sizesOfASourceOf1000x500(options: String, width: Int, height: Int) throws {
        #expect(try Self.steps(options, PixelSize(1000, 500)).size == PixelSize(width, height))
    }

    /// Borders, watermarks and reports are known by the hash of a source alone, so that no option may have a part in them.
    @Test func theFirstLookIsTheSameForAllJobs() throws {
        let (limits, neutral) = (ServerConfiguration.Source(), try Self.job("w:10"))
        for options in ["eth:1", "scp:0", "eth:1/scp:0/t:10"] {
            let found = JobPlan.decodeOptions(try Self.job(options), limits)
            #expect(found == JobPlan.decodeOptions(neutral, limits), "\(options)")
        }
        let plan = try Self.plan("eth:1/scp:0/f:jpg")
        #expect(plan.decode.usesEmbeddedThumbnail)
        #expect(plan.decode.color == .asStored)
        #expect(try Self.plan("w:10/f:jpg").decode.color == .sRGB)
    }

    /// A cut to one pixel does not hide what was scaled, and each effect has its part.
    @Test func theCostOfAJob() throws {
        func cost(_ options: String) throws -> Int { try Self.plan(options).cost }
        let small = try cost("rs:fill:1:1:1/f:jpg")
        #expect(small < 110)
        #expect(try cost("rs:fill:6000:1:1/f:jpg") >= 6000 * 6000)
        let plain = try cost("rs:force:1000:1000:1/f:jpg")
        #expect(try cost("rs:force:1000:1000:1/pix:4/f:jpg") - plain == 1_000_000)
        #expect(try cost("rs:force:1000:1000:1/bl:3/f:jpg") - plain == 4_000_000)
        #expect(try cost("rs:force:1000:1000:1/sh:3/bl:3/f:jpg") - plain == 8_000_000)
        #expect(try cost("rs:force:1000:1000:1/f:jpg/bg:ff0000") - plain == 1_000_000)
        // A score is found with four encodes, of each format among which the smallest is chosen.
        #expect(try cost("rs:force:1000:1000:1/f:jpg/aq:ssim:80") - plain == 3_000_000)
        let png = try cost("rs:force:1000:1000:1/f:png")
        #expect(try cost("rs:force:1000:1000:1/f:png/aq:ssim:80") == png)
        #expect(try cost("rs:force:1000:1000:1/f:best") == png + 1_000_000)
    }

    private static func plan(_ options: String, watermarks: [ImageJob.Watermark.Picture: WatermarkPicture] = [:])
        throws -> JobPlan
    {
        let data = try Image(width: 10, height: 10, pixels: [UInt8](repeating: 255, count: 400)).data(as: .png)
        let facts = SourceFacts(
            hash: "", info: try CoderRegistry.shared.probe(data), freshness: .unknown, time: Date(), lastModified: nil,
            original: nil)
        return try JobPlan(
            job(options), facts, watermarks: watermarks, accept: AcceptField(nil), coders: CoderRegistry.shared,
            configuration: ServerConfiguration())
    }

    @Test func tilesWithAGapBelowZeroAreBounded() throws {
        let mark = try Image(width: 100, height: 100, pixels: [UInt8](repeating: 255, count: 40_000))
        let marks = [ImageJob.Watermark.Picture.configured: WatermarkPicture(hash: "", image: mark)]
        func plan(_ gap: Int) throws -> JobPlan {
            try Self.plan("rs:force:4000:4000:1/wm:1:re:\(gap):\(gap)/f:jpg", watermarks: marks)
        }
        // With a gap below zero, each tile is less of the mark, and all of them are the picture again.
        #expect(try plan(-50).cost <= plan(0).cost + 1_000_000)
        #expect(try plan(-99).cost <= plan(0).cost + 1_000_000)
        #expect(throws: ImageURLError.self) { try plan(-100) }
    }

    @Test(arguments: [
        ("g:ce", 150), ("g:we", 0), ("g:ea", 300), ("g:ea:10:0", 290), ("g:we:0.1:0", 60), ("g:ce:20:0", 170),
        ("g:ce:-1000:0", 0), ("g:ea:-50:0", 300), ("g:fp:0.25:0.5", 0), ("g:fp:0.5:0.5", 150), ("g:fp:1:0.5", 300),
        ("g:no", 150), ("g:soea", 300), ("g:nowe", 0), ("g:ea:10:0/dpr:1", 290),
    ])
    func placesOfACutOf300In600(options: String, x: Int) throws {
        let geometry = JobGeometry(
            try Self.job("rs:fill:300:300/\(options)"), source: PixelSize(1000, 500), isVector: false)
        #expect(geometry.scaled == PixelSize(600, 300))
        #expect(geometry.cut == PixelRect(x: x, y: 0, width: 300, height: 300))
    }

    @Test func aVectorMayAlwaysBeEnlarged() throws {
        let job = try Self.job("rs:fit:400:400")
        #expect(JobGeometry(job, source: PixelSize(100, 50), isVector: true).size == PixelSize(400, 200))
        #expect(JobGeometry(job, source: PixelSize(100, 50), isVector: false).size == PixelSize(100, 50))
    }

    @Test func aCropIsAPartOfWhatIsLeftOfATrim() throws {
        let trimmed = PixelRect(x: 10, y: 20, width: 80, height: 60)
        let geometry = JobGeometry(
            try Self.job("c:40:30:nowe"), source: PixelSize(100, 100), trimmed: trimmed, isVector: false)
        #expect(geometry.part == PixelRect(x: 10, y: 20, width: 40, height: 30))
        let whole = JobGeometry(try Self.job("w:40"), source: PixelSize(100, 100), trimmed: trimmed, isVector: false)
        #expect(whole.part == trimmed)
        #expect(whole.size == PixelSize(40, 30))
    }

    /// No combination of options and sizes leads out of the picture or to an empty one.
    @Test func everyResultIsInsideAndNotEmpty() throws {
        let options = [
            "rs:fit:7:9", "rs:fill:7:9", "rs:fill-down:70:9", "rs:force:3:0", "rs:auto:9:7", "mw:50", "c:0.3:0.3",
            "c:5:900:soea:3:3", "g:fp:0.9:0.1/rs:fill:3:8", "g:no:0.9:0.9/rs:fill:3:8:1", "rot:90/rs:fill:8:3",
            "rs:fill:3:8/dpr:3", "z:0.01", "dpr:0.1", "rs:fit:100000:100000:1/z:0.001",
        ]
        for first in options {
            for second in options {
                let job = try Self.job("\(first)/\(second)")
                for size in [PixelSize(1, 1), PixelSize(1, 1000), PixelSize(37, 23), PixelSize(4000, 3)] {
                    let geometry = JobGeometry(job, source: size, isVector: false)
                    let part = geometry.part ?? PixelRect(x: 0, y: 0, width: size.width, height: size.height)
                    #expect(part.clamped(to: size) == part, "\(first)/\(second) of \(size)")
                    let turned = job.quarterTurns % 2 == 0 ? geometry.scaled : geometry.scaled.transposed
                    if let cut = geometry.cut {
                        #expect(cut.clamped(to: turned) == cut, "\(first)/\(second) of \(size)")
                    }
                    #expect(!geometry.size.isEmpty)
                }
            }
        }
    }
}

@Suite struct BorderTrimTests {
    /// A white picture of 10x8 with a black part.
    private func picture(_ part: PixelRect, alpha: UInt8 = 255) throws -> Bitmap {
        var pixels = [UInt8](repeating: alpha, count: 10 * 8 * 4)
        for y in part.y..<part.y + part.size.height {
            for x in part.x..<part.x + part.size.width {
                pixels.replaceSubrange((y * 10 + x) * 4..<(y * 10 + x) * 4 + 4, with: [0, 0, 0, 255])
            }
        }
        return try Bitmap(size: PixelSize(10, 8), isOpaque: alpha == 255, pixels: pixels)
    }

    @Test func findsThePart() throws {
        let part = PixelRect(x: 2, y: 1, width: 5, height: 4)
        #expect(BorderTrim.part(of: try picture(part), ImageJob.Trim()) == part)
        #expect(BorderTrim.part(of: try picture(part, alpha: 0), ImageJob.Trim()) == part)
        let magenta = ImageJob.Color(red: 255, green: 0, blue: 255)
        #expect(BorderTrim.part(of: try picture(part, alpha: 0), ImageJob.Trim(border: .color(magenta))) == part)
    }

    @Test func equalSidesLoseTheSame() throws {
        let bitmap = try picture(PixelRect(x: 2, y: 1, width: 5, height: 4))
        let trim = ImageJob.Trim(equalHorizontally: true, equalVertically: true)
        #expect(BorderTrim.part(of: bitmap, trim) == PixelRect(x: 2, y: 1, width: 6, height: 6))
    }

    @Test func nothingIsRemovedWithoutABorder() throws {
        #expect(BorderTrim.part(of: try picture(PixelRect(x: 0, y: 0, width: 10, height: 8)), ImageJob.Trim()) == nil)
        #expect(BorderTrim.part(of: try picture(PixelRect(x: 0, y: 0, width: 0, height: 0)), ImageJob.Trim()) == nil)
        let black = ImageJob.Color(red: 0, green: 0, blue: 0)
        let bitmap = try picture(PixelRect(x: 2, y: 1, width: 5, height: 4))
        #expect(BorderTrim.part(of: bitmap, ImageJob.Trim(border: .color(black))) == nil)
        #expect(BorderTrim.part(of: bitmap, ImageJob.Trim(tolerance: .channel(255))) == nil)
        #expect(BorderTrim.part(of: bitmap, ImageJob.Trim(tolerance: .distance(441))) != nil)
    }
}
