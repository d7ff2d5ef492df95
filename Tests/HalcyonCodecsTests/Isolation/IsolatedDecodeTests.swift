import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

/// Isolated decodes make the same images, and throw the same errors, as those of this process.
@Suite(.timeLimit(.minutes(10))) struct IsolatedDecodeTests {
    static let workers = DecodeWorkers(count: 2, program: .file(Worker.path))

    let registry = CoderRegistry.standard()

    private func options(_ change: (inout DecodeOptions) -> Void = { _ in }) -> DecodeOptions {
        var options = DecodeOptions()
        change(&options)
        return options
    }

    private func isolated(_ options: DecodeOptions) -> DecodeOptions {
        var options = options
        options.isolation = .isolated(workers: Self.workers)
        return options
    }

    /// Libraries warn about fonts that are scaled up, and ask first where the warning would go.
    @Test(arguments: ["0 0 1 1", "0 0 4 3"]) func textThatLibrariesWarnAboutIsDrawn(_ box: String) throws {
        let text = """
            <svg xmlns='http://www.w3.org/2000/svg' width='1000' height='1000' viewBox='\(box)'>\
            <text y='.8' font-size='.5'>A</text></svg>
            """
        try expectSame(Data(text.utf8), DecodeOptions(), "\(box)")
        #expect(throws: Never.self) { try registry.decode(Data(text.utf8), options: isolated(DecodeOptions())) }
    }

    /// Decodes in both ways and expects no difference.
    private func expectSame(_ data: Data, _ options: DecodeOptions, _ comment: Comment) throws {
        let own = Result { try registry.decode(data, options: options) }
        let other = Result { try registry.decode(data, options: isolated(options)) }
        switch (own, other) {
        case (.success(let own), .success(let other)):
            #expect(own.info == other.info, comment)
            #expect(own.size == other.size, comment)
            #expect(own.bitmap.isOpaque == other.bitmap.isOpaque, comment)
            #expect(own.bitmap.bytes == other.bitmap.bytes, comment)
            #expect(own.colorProfile == other.colorProfile, comment)
            #expect(own.animation?.durations == other.animation?.durations, comment)
            #expect(own.animation?.loopCount == other.animation?.loopCount, comment)
        case (.failure(let own), .failure(let other)):
            #expect("\(own)" == "\(other)", comment)
            #expect(type(of: own) == type(of: other), comment)
        default: Issue.record("\(comment): \(own) in this process, \(other) in a worker")
        }
    }

    @Test(arguments: Fixture.all)
    func makesTheSameImages(_ fixture: Fixture) throws {
        let data = try fixture.data()
        try expectSame(data, options(), "\(fixture.file)")
        try expectSame(data, options { $0.target = TargetSize(PixelSize(20, 20)) }, "\(fixture.file) small")
        let linear = TargetSize(PixelSize(9, 8), mode: .stretch, light: .linear)
        try expectSame(data, options { $0.target = linear }, "\(fixture.file) linear")
        try expectSame(
            data,
            options {
                $0.target = TargetSize(PixelSize(31, 17), mode: .fill)
                $0.region = PixelRect(x: 3, y: 2, width: 30, height: 25)
                $0.color = .asStored
                $0.maximumBytes = 2000
                $0.usesEmbeddedThumbnail = true
            }, "\(fixture.file) with everything")
        try expectSame(data.prefix(data.count * 2 / 3), options { $0.allowsIncomplete = true }, "\(fixture.file) cut")
        try expectSame(data.prefix(data.count / 2), options(), "\(fixture.file) damaged")
    }

    @Test func aProfileComesWithThePixels() throws {
        let files = Fixture.all.filter { $0.file.contains("icc") || $0.file.hasPrefix("color") }
        var profiles = 0
        for file in files {
            let image = try registry.decode(file.data(), options: isolated(options { $0.color = .asStored }))
            if image.colorProfile != nil { profiles += 1 }
        }
        #expect(profiles > 0)
    }

    @Test(arguments: Fixture.animated)
    func drawsTheSameFrames(_ fixture: Fixture) throws {
        let own = try #require(try registry.decode(fixture.data()).animation)
        let other = try #require(try registry.decode(fixture.data(), options: isolated(options())).animation)
        let forwards = Array(0..<own.frameCount)
        for index in forwards + forwards.reversed() {
            #expect(try own.frame(at: index).bytes == other.frame(at: index).bytes, "frame \(index)")
        }
        let reader = other.makeReader()
        #expect(try own.frame(at: 1).bytes == reader.frame(at: 1).bytes)
    }

    @Test func allFramesAtOnce() throws {
        let fixture = try #require(Fixture.animated.first)
        let own = try registry.decode(fixture.data(), options: options { $0.preloadAllFrames = true })
        let other = try registry.decode(fixture.data(), options: isolated(options { $0.preloadAllFrames = true }))
        let (frames, others) = (try #require(own.animation), try #require(other.animation))
        #expect(others.cost == frames.cost)
        #expect(try others.frame(at: 2).bytes == frames.frame(at: 2).bytes)
    }

    @Test(arguments: ["sans-serif", "serif", "monospace", "cursive", "no such family"])
    func textHasItsFonts(_ family: String) throws {
        for style in ["", "font-weight='bold'", "font-style='italic'"] {
            let drawing = """
                <svg xmlns='http://www.w3.org/2000/svg' width='90' height='24'>\
                <text y='18' font-size='16' font-family='\(family)' \(style)>Aaä漢字</text></svg>
                """
            try expectSame(Data(drawing.utf8), options(), "\(family) \(style)")
        }
    }

    @Test func framesThatAreKeptAreReserved() throws {
        let data = try TestFiles.data("gif/animated.gif")
        var keeping = isolated(options())
        let onDemand = try registry.plan(data, options: keeping)
        keeping.preloadAllFrames = true
        let all = try registry.plan(data, options: keeping)
        let frames = all.info.frameCount * all.finalSize.width * all.finalSize.height * 4
        #expect(all.workingBytes == onDemand.workingBytes + frames)
    }

    @Test func limitsHoldInTheWorker() throws {
        var limits = DecodeLimits()
        limits.maximumSide = 10
        try expectSame(TestFiles.data("jpeg/progressive.jpg"), options { $0.limits = limits }, "side")
        limits = DecodeLimits()
        limits.maximumFrames = 2
        try expectSame(TestFiles.data("gif/animated.gif"), options { $0.limits = limits }, "frames")
    }

    @Test func aRegistryOfLessMemoryRefusesThePlan() throws {
        let registry = CoderRegistry(CoderRegistry.standard().coders.reversed(), budget: DecodeBudget(capacity: 100))
        #expect {
            try registry.decode(TestFiles.data("jpeg/progressive.jpg"), options: isolated(options()))
        } throws: { ($0 as? CodecError)?.code == "limitExceeded" }
    }

    @Test func thePlaceDoesNotCountInComparisons() throws {
        #expect(options() == isolated(options()))
        #expect(options().hashValue == isolated(options()).hashValue)
        let data = try TestFiles.data("png/rgb8.png")
        #expect(
            try registry.plan(data, options: options()).info == registry.plan(data, options: isolated(options())).info)
    }

    @Test func onlyTheNamedFormatsAreIsolated() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        let isolation = DecodeIsolation.isolated(workers: workers, formats: [.png])
        _ = try registry.decode(
            TestFiles.data("jpeg/progressive.jpg"), options: options { $0.isolation = isolation })
        #expect(workers.statistics.started == 0)
        _ = try registry.decode(TestFiles.data("png/rgb8.png"), options: options { $0.isolation = isolation })
        #expect(workers.statistics.started == 1)
    }

    /// The worker reads the file, not the bytes: a large body of the disk cache is not copied.
    @Test func aLargeFileGoesByDescriptor() throws {
        let small = try TestFiles.data("jpeg/progressive.jpg")
        let other = try TestFiles.data("jpeg/gray.jpg")
        let padding = Data(count: MappedFiles.minimumBytes)
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let url = folder.url.appending(path: "large")
        try (other + padding + Data(count: small.count)).write(to: url)
        let file = open(url.path(percentEncoded: false), O_RDONLY)
        defer { close(file) }
        var data = small + padding
        let bytes = data.withUnsafeMutableBytes { UnsafeRawBufferPointer($0) }
        MappedFiles.add(bytes, of: file)
        let isolated = try registry.decode(data, options: isolated(options()))
        MappedFiles.remove(bytes)
        #expect(try isolated.bitmap.bytes == registry.decode(other).bitmap.bytes)
        // It is not known any more: the bytes are copied.
        let copied = try registry.decode(data, options: self.isolated(options()))
        #expect(try copied.bitmap.bytes == registry.decode(small).bitmap.bytes)
        #expect(MappedFiles.descriptor(of: data) == nil)
    }

    @Test func aFileThatCouldBeWrittenIsCopied() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let path = folder.url.appending(path: "writable").path(percentEncoded: false)
        let file = open(path, O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        var data = Data(count: MappedFiles.minimumBytes)
        MappedFiles.add(data.withUnsafeMutableBytes { UnsafeRawBufferPointer($0) }, of: file)
        #expect(MappedFiles.descriptor(of: data) == nil)
    }

    @Test func theBytesOfAnImageStayWhenTheWorkerIsGone() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let image = try registry.decode(data, options: options { $0.isolation = .isolated(workers: workers) })
        workers.endIdle()
        #expect(workers.statistics.workers == 0)
        #expect(try image.bitmap.bytes == registry.decode(data).bitmap.bytes)
    }
}
