import Foundation
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

@testable import HalcyonCodecs
@testable import HalcyonJPEGXL

/// JPEGs that are rewritten as JPEG XL and come back byte for byte, and files that only look as if they could.
@Suite(.timeLimit(.minutes(5))) struct JPEGXLTranscodingTests {
    private let registry = CoderRegistry.standard()

    /// JPEGs that another program has rewritten, by the names of both files.
    static let foreign = ["of-jpeg", "of-jpeg-progressive", "of-jpeg-restarts", "of-jpeg-later"]

    private func data(_ name: String) throws -> Data { try TestFiles.data(name) }

    private func expectRefused(
        _ data: Data, to format: ImageFormat, _ comment: Comment = "", limits: DecodeLimits = DecodeLimits(),
        where isExpected: (CodecError) -> Bool
    ) {
        do {
            _ = try registry.transcode(data, to: format, limits: limits)
            Issue.record("it was taken: \(comment)")
        } catch let error as CodecError {
            #expect(isExpected(error), "\(error) \(comment)")
        } catch {
            Issue.record("\(error) \(comment)")
        }
    }

    private func isEncoding(_ error: CodecError) -> Bool {
        if case .encodingFailed = error { true } else { false }
    }

    // MARK: - There and back

    @Test func everyJPEGComesBackByteForByte() throws {
        var (files, refused) = (0, [String]())
        for fixture in Fixture.all where fixture.format == "jpeg" {
            let jpeg = try fixture.data()
            do {
                let file = try registry.transcode(jpeg, to: .jpegXL)
                files += 1
                #expect(FormatSniffer.format(of: file) == .jpegXL, "\(fixture.file)")
                #expect(try registry.transcode(file, to: .jpeg) == jpeg, "\(fixture.file)")
                let (own, other) = (try registry.decode(jpeg), try registry.decode(file))
                #expect(own.size == other.size && own.info.orientation == other.info.orientation, "\(fixture.file)")
            } catch let error as CodecError where isEncoding(error) {
                refused.append(fixture.file)
            }
        }
        #expect(files >= 20)
        // Four channels; sampling at a quarter; arithmetic coding; profiles that are no profiles, or in pieces out of order; and for
        // libjxl 0.7 an interval of restarts in each scan.
        let reasons = ["cmyk", "ycck", "-411", "-410", "arithmetic", "bad-", "segment", "restart-progressive"]
        #expect(refused.filter { name in !reasons.contains { name.contains($0) } } == [])
    }

    @Test func aPhotoTakesLessAndLooksTheSame() throws {
        let jpeg = try data("jxl/of-jpeg.jpg")
        let file = try registry.transcode(jpeg, to: .jpegXL)
        #expect(file.count < jpeg.count * 19 / 20)
        let (own, other) = (try registry.decode(jpeg), try registry.decode(file))
        #expect(signalToNoise(own.bitmap.bytes, other.bitmap.bytes) > 40)
    }

    @Test(arguments: foreign) func filesOfOtherProgramsAreRebuilt(_ name: String) throws {
        #expect(try registry.transcode(try data("jxl/\(name).jxl"), to: .jpeg) == data("jxl/\(name).jpg"))
    }

    @Test func moreEffortMakesASmallerFile() throws {
        let jpeg = try data("jxl/of-jpeg.jpg")
        let files = try [0, 1].map { try registry.transcode(jpeg, to: .jpegXL, effort: $0) }
        #expect(files[1].count < files[0].count)
        #expect(try registry.transcode(jpeg, to: .jpegXL, effort: .nan) == registry.transcode(jpeg, to: .jpegXL))
    }

    @Test func aFileOfTheFormatStaysAsItIs() throws {
        let jpeg = try data("jxl/of-jpeg.jpg")
        #expect(try registry.transcode(jpeg, to: .jpeg) == jpeg)
        let lossless = try data("jxl/lossless.jxl")
        #expect(try registry.transcode(lossless, to: .jpegXL) == lossless)
    }

    @Test func whatIsBehindTheEndStays() throws {
        let jpeg = try data("jxl/of-jpeg.jpg") + Data("a video".utf8)
        #expect(try registry.transcode(registry.transcode(jpeg, to: .jpegXL), to: .jpeg) == jpeg)
    }

    // MARK: - Files without such a form

    @Test func otherFormatsAreRefused() throws {
        for name in ["png/rgb8.png", "webp/lossy.webp", "gif/still.gif"] {
            let data = try Fixture.all.first { $0.file == name }?.data()
            if let data { expectRefused(data, to: .jpegXL, "\(name)", where: isEncoding) }
        }
        expectRefused(try data("jxl/lossless.jxl"), to: .jpeg, where: isEncoding)
        expectRefused(try data("jxl/lossy.jxl"), to: .jpeg, where: isEncoding)
        expectRefused(try data("jxl/of-jpeg.jpg"), to: .webp, where: isEncoding)
        expectRefused(Data("no image".utf8), to: .jpegXL) { if case .notAnImage = $0 { true } else { false } }
        #expect(registry.canTranscode(from: .jpeg, to: .jpegXL) && registry.canTranscode(from: .jpegXL, to: .jpeg))
        #expect(!registry.canTranscode(from: .png, to: .jpegXL))
        let few = CoderRegistry.standard(formats: [.jpeg])
        #expect(throws: CodecError.noEncoder(for: .jpegXL)) {
            try few.transcode(try self.data("jxl/of-jpeg.jpg"), to: .jpegXL)
        }
    }

    @Test func limitsAndBudgetHold() throws {
        let jpeg = try data("jxl/of-jpeg.jpg")
        let isLimit = { (error: CodecError) in if case .limitExceeded = error { true } else { false } }
        expectRefused(jpeg, to: .jpegXL, limits: DecodeLimits(maximumSide: 100), where: isLimit)
        expectRefused(try data("jxl/of-jpeg.jxl"), to: .jpeg, limits: DecodeLimits(maximumPixels: 100), where: isLimit)
        // The EXIF data of the JPEG are in no box that counts.
        expectRefused(
            try data("jxl/of-jpeg-later.jxl"), to: .jpeg, limits: DecodeLimits(maximumMetadataBytes: 10), where: isLimit
        )
        let small = CoderRegistry.standard(budget: DecodeBudget(capacity: 1 << 20))
        #expect(throws: CodecError.self) { try small.transcode(jpeg, to: .jpegXL) }
        #expect(throws: CancellationError.self) {
            try registry.transcode(jpeg, to: .jpegXL, context: WorkContext { true })
        }
    }

    @Test func rebuildingIsCancelledAtAnyCheck() throws {
        let noise = try registry.encode(Self.noise(PixelSize(300, 280)), as: .jpeg)
        let file = try registry.transcode(noise, to: .jpegXL)
        try expectCancellation(leastChecks: 4) { context in
            let jpeg = try registry.transcode(file, to: .jpeg, context: context)
            #expect(jpeg == noise)
        }
    }

    // MARK: - Bad input

    @Test func aCutJPEGIsRefused() throws {
        let jpeg = try data("jxl/of-jpeg.jpg")
        for count in stride(from: 1, to: jpeg.count, by: jpeg.count / 60) {
            expectRefused(jpeg.prefix(count), to: .jpegXL, "\(count) bytes") { _ in true }
        }
    }

    @Test(arguments: foreign) func aCutFileIsRefused(_ name: String) throws {
        let file = try data("jxl/\(name).jxl")
        for count in stride(from: 1, to: file.count, by: file.count / 60) {
            expectRefused(file.prefix(count), to: .jpeg, "\(count) bytes") { _ in true }
        }
    }

    @Test(arguments: foreign) func aDamagedFileIsRebuiltOrRefused(_ name: String) throws {
        let file = try data("jxl/\(name).jxl")
        var random = SplitMix(state: 7)
        for _ in 0..<150 {
            var damaged = file
            // Most of the damage is in the boxes that come before the pixels.
            let end = Bool.random(using: &random) ? min(file.count, 700) : file.count
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                let jpeg = try registry.transcode(damaged, to: .jpeg)
                #expect(jpeg.starts(with: [0xFF, 0xD8]))
            } catch is CodecError {
            } catch { Issue.record("\(error)") }
        }
    }

    /// libjxl 0.7 writes the coefficients of a whole channel into the memory of one that has a quarter of them.
    @Test func theDataOfAGreyJPEGDoNotGoWithAColouredPicture() throws {
        let grey = try JXLBoxList(try data("jxl/of-jpeg-later.jxl")).body("jbrd")
        var boxes = try JXLBoxList(try data("jxl/of-jpeg.jxl"))
        boxes.replace("jbrd", by: try #require(grey))
        expectRefused(boxes.data, to: .jpeg, where: isEncoding)
    }

    /// Returns the head of the data of a JPEG with these markers, as far as it is read here, and zeros.
    private static func reconstruction(
        _ markers: [Int], scans: [(band: ClosedRange<Int>, refines: Bool, of: [Int])] = []
    ) -> Data {
        var bits = JXLBits()
        bits.append(0, 1)
        for marker in markers { bits.append(marker - 0xC0, 6) }
        // Segments of the greatest length, and behind them a table, of three channels, and two codes of one symbol.
        for marker in markers where (0xE0...0xEF).contains(marker) { bits.append(0xFFFF << 2, 18) }
        bits.append(0, 2 + 4)
        bits.append(1, 2)
        bits.append(0, 6)
        bits.append(1, 2)
        bits.append(0, 3)
        for _ in 0..<2 {
            bits.append(0, 4)
            bits.append(1, 17 * 2)
            bits.append(0xFF << 2 | 3, 10)
        }
        for scan in scans {
            bits.append(scan.of.count - 1, 2)
            bits.append(scan.band.lowerBound, 6)
            bits.append(scan.band.upperBound, 6)
            bits.append(0, 4)
            bits.append(scan.refines ? 1 : 0, 4)
            for component in scan.of { bits.append(component, 6) }
            bits.append(0, 2)
        }
        return bits.data + Data(count: 64)
    }

    @Test func dataThatAskForMoreThanAJPEGHasAreRefused() throws {
        let isLimit = { (error: CodecError) in if case .limitExceeded = error { true } else { false } }
        func expect(_ markers: [Int], _ isExpected: (CodecError) -> Bool) throws {
            var boxes = try JXLBoxList(try data("jxl/of-jpeg.jxl"))
            let scans = markers.filter { $0 == 0xDA }.map { _ in (0...63, false, [0]) }
            boxes.replace("jbrd", by: Self.reconstruction(markers, scans: scans))
            expectRefused(boxes.data, to: .jpeg, "\(markers.count) markers", where: isExpected)
        }
        try expect([Int](repeating: 0xE1, count: 2000) + [0xD9], isLimit)
        try expect([Int](repeating: 0xFF, count: 2000) + [0xD9], isLimit)
        try expect([Int](repeating: 0xC4, count: 17_000), isEncoding)
        try expect([0xC4, 0xC4], isEncoding)
        // Each scan is a pass over all of the picture.
        try expect([Int](repeating: 0xDA, count: 501) + [0xD9]) { if case .damaged = $0 { true } else { false } }
    }

    /// libjxl 0.7 indexes a table by a coefficient that no scan has checked.
    @Test func scansRefineWhatIsThere() throws {
        func isSound(_ scans: [(band: ClosedRange<Int>, refines: Bool, of: [Int])]) throws -> Bool {
            let markers = scans.map { _ in 0xDA } + [0xD9]
            return try Self.reconstruction(markers, scans: scans).read { try JXLReconstruction($0).refinesWhatIsThere }
        }
        #expect(try isSound([(0...0, false, [0, 1, 2]), (0...0, true, [0, 1, 2])]))
        #expect(try isSound([(1...63, false, [1]), (1...63, true, [1])]))
        #expect(try isSound([(1...5, false, [0]), (6...63, false, [0]), (3...40, true, [0])]))
        #expect(try !isSound([(1...63, true, [0])]))
        #expect(try !isSound([(1...63, false, [0]), (1...63, true, [1])]))
        #expect(try !isSound([(1...62, false, [0]), (1...63, true, [0])]))
        #expect(try !isSound([(1...63, true, [0]), (1...63, false, [0])]))
        #expect(try !isSound([(0...63, false, [0, 1, 2]), (1...63, true, [0, 1])]))
        #expect(throws: CodecError.self) { try isSound([(0...63, false, [3])]) }
        #expect(throws: CodecError.self) { try isSound([(0...63, false, [0, 1, 2, 3])]) }
    }

    /// Brotli for a million zeros, by its own encoder.
    private static let bomb =
        [0x5B, 0x3F, 0x42, 0x8F, 0x7F, 0x02, 0x20, 0x1E, 0x0B, 0x04, 0xF2, 0x73, 0x1E, 0x00] as [UInt8]

    @Test func packedMetadataHaveTheLimitOfMetadata() throws {
        var boxes = try JXLBoxList(try data("jxl/of-jpeg.jxl"))
        boxes.insert("brob", Data("Exif".utf8) + Self.bomb)
        let limits = DecodeLimits(maximumMetadataBytes: 500_000)
        expectRefused(boxes.data, to: .jpeg, limits: limits) {
            if case .limitExceeded("metadata bytes", let value, _) = $0 { value > 500_000 } else { false }
        }
        // A stream that goes on in the next box.
        var cut = try JXLBoxList(try data("jxl/of-jpeg.jxl"))
        cut.insert("brob", Data("Exif".utf8) + Self.bomb.prefix(9))
        expectRefused(cut.data, to: .jpeg, where: isEncoding)
    }

    /// libjxl 0.7 takes a `jxlc` for the rest of a `jxlp`, reads the type behind a length of 64 bits, and goes on behind a box with a
    /// strange name.
    @Test func boxesThatAreReadInTwoWays() throws {
        let jpeg = try data("jxl/of-jpeg.jpg")
        let plain = try JXLBoxList(try data("jxl/of-jpeg.jxl"))
        let grey = try JXLBoxList(try data("jxl/of-jpeg-later.jxl"))
        var confused = plain
        confused.insert("jxlc", grey.codestream, at: plain.names.count - 1)
        #expect(try registry.transcode(confused.data, to: .jpeg) == jpeg)
        for name in ["\u{1}\u{2}\u{3}\u{4}", "free"] {
            var strange = plain
            strange.insert(name, Data(), at: plain.names.count)
            strange.insert("brob", Data("Exif".utf8) + Self.bomb, at: plain.names.count + 1)
            let limits = DecodeLimits(maximumMetadataBytes: 100_000)
            if name == "free" {
                expectRefused(strange.data, to: .jpeg, limits: limits) {
                    if case .limitExceeded = $0 { true } else { false }
                }
            } else {
                #expect(try registry.transcode(strange.data, to: .jpeg, limits: limits) == jpeg)
            }
        }
        let long = Data([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]) + Data("brobExif".utf8) + Self.bomb
        #expect(try registry.transcode(plain.data + long, to: .jpeg) == jpeg)
    }

    /// Most readers skip a segment that they do not know. libjxl reads on inside of it.
    @Test(arguments: [0x02, 0xC3, 0xC5, 0xDC, 0xDE, 0xF0]) func aPictureInsideOfASegmentIsNotRewritten(_ marker: UInt8)
        throws
    {
        let jpeg = try data("jxl/of-jpeg.jpg")
        let other = try data("jxl/of-jpeg-restarts.jpg").dropFirst(2)
        let length = other.count + 2
        try #require(length < 65_536)
        let segment = [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + other
        expectRefused(jpeg.prefix(2) + segment + jpeg.dropFirst(2), to: .jpegXL) { _ in true }
        // One that everybody skips.
        let known = [0xFF, 0xE5, UInt8(length >> 8), UInt8(length & 255)] + other
        let harmless = jpeg.prefix(2) + known + jpeg.dropFirst(2)
        #expect(try registry.transcode(registry.transcode(harmless, to: .jpegXL), to: .jpeg) == harmless)
    }

    @Test func theRestOfAJPEGIsNoMetadataOfThePicture() throws {
        let limits = DecodeLimits(maximumMetadataBytes: 50_000)
        var random = SplitMix(state: 5)
        let noise = Data((0..<45_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        let jpeg = try data("jxl/of-jpeg.jpg")
        let segment = [0xFF, 0xE5, UInt8(45_002 >> 8), UInt8(45_002 & 255)] + noise
        let full = jpeg.prefix(2) + segment + jpeg.dropFirst(2) + noise
        let file = try registry.transcode(full, to: .jpegXL, limits: limits)
        #expect(file.count > 45_000)
        #expect(try registry.decode(file, options: DecodeOptions(limits: limits)).size == PixelSize(290, 40))
        #expect(try registry.transcode(file, to: .jpeg, limits: limits) == full)
    }

    // MARK: - Elsewhere

    @Test func aWorkerMakesTheSameFiles() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        let isolation = DecodeIsolation.isolated(workers: workers)
        for name in Self.foreign {
            let jpeg = try data("jxl/\(name).jpg")
            let file = try registry.transcode(jpeg, to: .jpegXL, isolation: isolation)
            #expect(try file == registry.transcode(jpeg, to: .jpegXL))
            #expect(try registry.transcode(file, to: .jpeg, isolation: isolation) == jpeg)
        }
        let error = #expect(throws: CodecError.self) {
            try registry.transcode(try self.data("jxl/lossy.jxl"), to: .jpeg, isolation: isolation)
        }
        #expect(error.map(isEncoding) == true)
        // More than the windows of a worker hold.
        let noise = try registry.encode(
            Self.noise(PixelSize(1800, 1500)), as: .jpeg, options: EncodeOptions(quality: 1))
        #expect(noise.count > 3 << 20)
        let file = try registry.transcode(noise, to: .jpegXL, isolation: isolation)
        #expect(try registry.transcode(file, to: .jpeg, isolation: isolation) == noise)
        #expect(workers.statistics.faults == 0)
    }

    private static func noise(_ size: PixelSize) throws -> Image {
        var random = SplitMix(state: 3)
        let count = size.width * size.height * 4
        let pixels = (0..<count).map { $0 % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random) }
        return try Image(width: size.width, height: size.height, pixels: pixels, layout: .rgba)
    }
}
