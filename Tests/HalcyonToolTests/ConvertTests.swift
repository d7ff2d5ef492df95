import Foundation
import Halcyon
import TestSupport
import Testing

/// `halcyon convert`: the files that it reads and writes.
@Suite(.timeLimit(.minutes(5))) struct ConvertTests {

    @Test func aFileIsConvertedBesideItsSource() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "a.png")
        let result = try await tool.run(["convert", tool.path("a.png"), "--to", "webp"])
        #expect(result.status == 0, "\(result.errors)")
        let output = try tool.data("a.webp")
        #expect(try CoderRegistry.shared.probe(output).format == .webp)
        let read = try TestFiles.data("png/rgb8.png").count
        #expect(
            result.lines == [
                "\(tool.path("a.png"))  -> \(tool.path("a.webp"))  \(read) -> \(output.count) bytes",
                "1 converted, 0 skipped, 0 failed, \(read) -> \(output.count) bytes",
            ])
        #expect(result.errors.isEmpty)
    }

    @Test func aJPEGGoesToJPEGXLAndBackByteForByte() async throws {
        let tool = try Tool()
        try tool.add("jxl/of-jpeg.jpg", as: "a.jpg")
        try tool.add("png/rgb8.png", as: "b.png")
        let jpeg = try tool.data("a.jpg")
        let there = try await tool.run(
            ["convert", tool.path("a.jpg"), tool.path("b.png"), "--to", "jxl", "--transcode", "--effort", "100"])
        #expect(there.status == 1)
        #expect(there.errors.contains("b.png: cannot encode jxl: png cannot be rewritten as it without loss"))
        #expect(try tool.data("a.jxl").count < jpeg.count)
        let back = try await tool.run(
            ["convert", tool.path("a.jxl"), "-o", tool.path("out"), "--to", "jpeg", "--transcode"])
        #expect(back.status == 0, "\(back.errors)")
        #expect(try tool.data("out/a.jpg") == jpeg)
        for more in [["--quality", "3"], ["--max-side", "9"], ["-p", "sepia"], ["--lossless"], ["--score", "80"]] {
            let refused = try await tool.run(
                ["convert", tool.path("a.jpg"), "--to", "jxl", "--transcode"] + more)
            #expect(
                refused.status == 64 && refused.errors.contains("--transcode changes no pixel"),
                "\(more) \(refused.errors)")
        }
        let aimless = try await tool.run(["convert", tool.path("a.jpg"), "--in-place", "--transcode"])
        #expect(aimless.status == 64 && aimless.errors.contains("--transcode needs --to"))
    }

    @Test func allBitsAreKeptWhereTheyAreAskedFor() async throws {
        let tool = try Tool()
        try tool.add("deep/rgb.png", as: "a.png")
        try tool.add("png/rgb8.png", as: "b.png")
        for (name, format, bits, kept) in [
            ("a", "png", "16", 16), ("a", "avif", "12", 12), ("a", "avif", "10", 10), ("a", "jxl", "16", 16),
            ("a", "png", "8", 8), ("a", "webp", "16", 8), ("b", "png", "16", 16),
        ] {
            let result = try await tool.run([
                "convert", tool.path("\(name).png"), "-o", tool.path("out"), "--to", format, "--depth", bits, "--force",
                "--lossless",
            ])
            #expect(result.status == 0, "\(result.errors)")
            let output = try tool.data("out/\(name).\(format)")
            #expect(try CoderRegistry.shared.probe(output).bitsPerChannel == kept, "\(name) \(format) \(bits)")
        }
        for bits in ["7", "17", "x"] {
            let refused = try await tool.run([
                "convert", tool.path("a.png"), "--to", "png", "--in-place", "--depth", bits,
            ])
            #expect(refused.status == 64)
        }
    }

    @Test func aScoreIsMetInThePlaceOfAQuality() async throws {
        let tool = try Tool()
        try tool.add("../../demo/gallery/koi-interlaced.png", as: "a.png")
        for format in ["jpg", "webp", "avif", "jxl"] {
            let result = try await tool.run([
                "convert", tool.path("a.png"), "-o", tool.path("out"), "--to", format, "--score", "82.5",
            ])
            #expect(result.status == 0, "\(result.errors)")
            let line = try #require(result.lines.first)
            let found = try #require(line.firstMatch(of: /bytes, quality (\d+), score ([\d.]+), [1-4] encodes?$/))
            let compared = try await tool.run(["compare", tool.path("a.png"), tool.path("out/a.\(format)")])
            #expect(compared.lines.first?.contains("score \(found.2), ") == true, "\(line) \(compared.lines)")
            #expect(abs((Double(found.2) ?? 0) - 82.5) <= 1.5, "\(line)")
            // The same file comes of the quality that the line says.
            let output = try tool.data("out/a.\(format)")
            let again = try await tool.run([
                "convert", tool.path("a.png"), "-o", tool.path("out"), "--to", format, "--force", "--quality",
                String(found.1),
            ])
            #expect(again.status == 0)
            #expect(try tool.data("out/a.\(format)") == output)
        }
        for more in [
            ["--score", "101"], ["--score", "-1"], ["--score", "x"], ["--score", "80", "--quality", "3"],
            ["--score", "80", "--lossless"], ["--score", "80", "--depth", "10"],
        ] {
            let refused = try await tool.run(["convert", tool.path("a.png"), "--to", "avif"] + more)
            #expect(refused.status == 64 && refused.errors.contains("--score"), "\(more) \(refused.errors)")
        }
    }

    @Test func losslessAndEffortAreOptionsOfTheEncoder() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "a.png")
        func size(_ more: [String]) async throws -> Int {
            let result = try await tool.run(["convert", tool.path("a.png"), "--to", "webp", "--force"] + more)
            #expect(result.status == 0, "\(result.errors)")
            return try tool.data("a.webp").count
        }
        let (lossy, lossless) = (try await size([]), try await size(["--lossless"]))
        #expect(lossless != lossy)
        let pixels = try ["a.webp", "a.png"].map { name in
            try CoderRegistry.shared.decode(try tool.data(name)).bitmap.withPixels { [UInt8]($0) }
        }
        #expect(pixels[0] == pixels[1])
        #expect(try await size(["--lossless", "--effort", "0"]) != lossless)
        let both = try await tool.run(["convert", tool.path("a.png"), "--to", "webp", "--lossless", "--quality", "3"])
        #expect(both.status == 64 && both.errors.contains("exclude each other"))
        let much = try await tool.run(["convert", tool.path("a.png"), "--to", "webp", "--effort", "101"])
        #expect(much.status == 64 && much.errors.contains("--effort is a whole number from 0 to 100"))
    }

    @Test func aFolderKeepsItsTreeBelowTheOutput() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/b.png", "in/deep/er/c.PNG")
        try tool.add("jpeg/gray.jpg", as: "in/a.jpg", "in/deep/a.jpg", "in/.hidden.jpg", "in/.hidden/a.jpg")
        try tool.add("bad/text.txt", as: "in/notes.txt")
        let flat = try await tool.run(["convert", tool.path("in"), "-o", tool.path("flat"), "--to", "webp"])
        #expect(flat.status == 0, "\(flat.errors)")
        #expect(try tool.tree("flat") == ["a.webp", "b.webp"])
        let deep = try await tool.run(["convert", "-r", tool.path("in/"), "-o", tool.path("deep/"), "--to", "webp"])
        #expect(deep.status == 0, "\(deep.errors)")
        #expect(try tool.tree("deep") == ["a.webp", "b.webp", "deep/a.webp", "deep/er/c.webp"])
        #expect(deep.lines.last?.hasPrefix("4 converted, 0 skipped, 0 failed, ") == true)
    }

    @Test func linesAreInTheOrderOfTheNames() async throws {
        let tool = try Tool()
        let names = (0..<30).map { "in/\(String(format: "%02d", $0)).png" }
        for (index, name) in names.enumerated() {
            try tool.add(index.isMultiple(of: 7) ? "png/adam7-rgba.png" : "png/1x1.png", as: name)
        }
        let result = try await tool.run(
            ["convert", tool.path("in"), "-o", tool.path("out"), "--to", "jpeg", "--jobs", "5"])
        #expect(result.lines.dropLast().map { String($0.prefix { $0 != " " }) } == names.map { tool.path($0) })
    }

    @Test func aPatternIsExpandedByTheTool() async throws {
        let tool = try Tool()
        try tool.add("png/1x1.png", as: "in/one/a.png", "in/two/deep/b.png", "in/two/c.png", "in/two/c.gif")
        let result = try await tool.run(
            ["convert", tool.path("in/t*/**/[a-c].png"), "-o", tool.path("out"), "--to", "webp"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try tool.tree("out") == ["two/c.webp", "two/deep/b.webp"])
    }

    @Test func aFileWithThatNameIsNoPattern() async throws {
        let tool = try Tool()
        try tool.add("png/1x1.png", as: "in/a[1].png", "in/a1.png")
        let result = try await tool.run(
            ["convert", tool.path("in/a[1].png"), "-o", tool.path("out"), "--to", "webp"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try tool.tree("out") == ["a[1].webp"])
    }

    @Test func qualitySizeAndProcessorsApply() async throws {
        let tool = try Tool()
        try tool.add("jpeg/baseline-444.jpg", as: "a.jpg")
        let source = tool.path("a.jpg")
        func size(_ folder: String, _ options: String...) async throws -> (bytes: Int, size: PixelSize) {
            let result = try await tool.run(["convert", source, "-o", tool.path(folder)] + options)
            #expect(result.status == 0, "\(result.errors)")
            let data = try tool.data("\(folder)/a.jpg")
            return (data.count, try decoded(data).size)
        }
        #expect(try await size("low", "--quality", "5").bytes < size("high", "--quality", "95").bytes)
        #expect(try await size("small", "--max-side", "24").size == PixelSize(24, 16))
        #expect(try await size("same", "--max-side", "4800").size == PixelSize(48, 32))
        #expect(try tool.data("same/a.jpg") == TestFiles.data("jpeg/baseline-444.jpg"))
        #expect(try await size("turned", "--max-side", "24", "-p", "rotate=90").size == PixelSize(16, 24))
        #expect(try await size("anew", "--reencode").size == PixelSize(48, 32))
        #expect(try tool.data("anew/a.jpg") != TestFiles.data("jpeg/baseline-444.jpg"))
    }

    @Test func anAnimationKeepsItsFrames() async throws {
        let tool = try Tool()
        let source = fixture("gif/animated.gif")
        _ = try await tool.run(["convert", source, "-o", tool.path("out"), "--to", "webp"])
        let frames = try CoderRegistry.shared.probe(TestFiles.data("gif/animated.gif")).frameCount
        #expect(frames > 1)
        #expect(try CoderRegistry.shared.probe(try tool.data("out/animated.webp")).frameCount == frames)
    }

    @Test func outputsThatAreNewerAreSkipped() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png", "in/b.png")
        try tool.add("png/1x1.png", as: "out/a.webp", "out/b.webp")
        try tool.age("in/a.png", by: 100)
        try tool.age("out/a.webp", by: 50)
        try tool.age("in/b.png", by: 100)
        try tool.age("out/b.webp", by: 150)
        let command = ["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp"]
        let result = try await tool.run(command)
        #expect(result.lines.first == "\(tool.path("in/a.png"))  skipped: \(tool.path("out/a.webp")) is newer")
        #expect(result.lines.last?.hasPrefix("1 converted, 1 skipped, 0 failed, ") == true)
        let png = try TestFiles.data("png/1x1.png")
        #expect(try tool.data("out/a.webp") == png && tool.data("out/b.webp") != png)
        let forced = try await tool.run(command + ["--force"])
        #expect(forced.lines.last?.hasPrefix("2 converted, 0 skipped, 0 failed, ") == true)
        #expect(try tool.data("out/a.webp") != png)
    }

    @Test func aDryRunWritesNothing() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png")
        let result = try await tool.run(
            ["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp", "--dry-run"])
        #expect(result.status == 0)
        #expect(result.lines == ["\(tool.path("in/a.png"))  -> \(tool.path("out/a.webp"))"])
        #expect(!tool.exists("out"))
    }

    @Test func aFailureIsThatOfItsPictureAlone() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "in/a.png", "in/z.png")
        try tool.add("bad/truncated.jpg", as: "in/broken.jpg")
        try tool.add("bad/bomb-60000x60000.png", as: "in/bomb.png")
        try tool.add("bad/page.html", as: "in/page.gif")
        let result = try await tool.run(["convert", tool.path("in"), "-o", tool.path("out"), "--to", "webp"])
        #expect(result.status == 1)
        #expect(try tool.tree("out") == ["a.webp", "z.webp"])
        #expect(result.lines.last?.hasPrefix("2 converted, 0 skipped, 3 failed, ") == true)
        let codes = [("bomb.png", "limitExceeded"), ("broken.jpg", "damagedImage"), ("page.gif", "notAnImage")]
        try #require(result.errorLines.count == codes.count, "\(result.errors)")
        for (line, (name, code)) in zip(result.errorLines, codes) {
            #expect(line.hasPrefix("halcyon: \(tool.path("in/\(name)")): ") && line.hasSuffix(" (\(code))"))
        }
    }

    @Test func aSourceThatIsNotThereDoesNotStopTheOthers() async throws {
        let tool = try Tool()
        try tool.add("png/rgb8.png", as: "a.png")
        let result = try await tool.run(
            [
                "convert", tool.path("missing.png"), tool.path("no*.png"), tool.path("a.png"), "--to", "webp",
                "--quiet",
            ])
        #expect(result.status == 1)
        #expect(result.errorLines.count == 2 && result.output.isEmpty)
        #expect(tool.exists("a.webp"))
    }

    @Test(arguments: [
        [], ["a.png"], ["a.png", "--to", "svg"], ["a.png", "--to", "nothing"], ["", "--to", "png"],
        ["a.png", "--to", "png", "--quality", "101"], ["a.png", "--to", "png", "--max-side", "0"],
        ["a.png", "--to", "png", "--jobs", "0"], ["a.png", "-o", ""], ["a.png", "-o", "x", "--in-place"],
        ["a.png", "-o", "/dev/null"], ["a.png", "--to", "png", "-p", "blur"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let result = try await Tool().run(["convert"] + arguments)
        #expect(result.status == 64, "\(result.text)")
        #expect(result.output.isEmpty && !result.errors.isEmpty)
    }
}
