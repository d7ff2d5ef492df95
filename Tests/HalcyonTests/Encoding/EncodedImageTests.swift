import Foundation
import Halcyon
import HalcyonCache
import HalcyonCodecs
import HalcyonProcessing
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Images encoded for a web response.
@Suite(.timeLimit(.minutes(5)))
struct EncodedImageTests {
    private static let small = [ResizeProcessor(PixelSize(16, 16), mode: .fill)] as [any ImageProcessor]

    private func flush(_ fixture: PipelineFixture) async {
        await fixture.pipeline.shutdown(within: .seconds(300))
        fixture.pipeline.cache.clearMemory()
    }

    // MARK: - What comes

    @Test func theAnswerIsTheProcessedImageInTheFormatThatWasAskedFor() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, processors: Self.small)
        let coders = CoderRegistry.standard()
        for (encoding, format) in [
            (ImageEncoding.webp(quality: 0.8), ImageFormat.webp), (.jpeg(), .jpeg), (.png, .png),
            (ImageEncoding(.gif), .gif),
        ] {
            let answer = try await fixture.pipeline.encodedImage(for: request, as: encoding)
            let info = try coders.probe(answer.data)
            #expect(info.format == format)
            #expect(info.size == PixelSize(16, 16))
            #expect(answer.size == info.size)
            #expect(answer.mediaType == format.mimeType)
        }
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.decodes.value == 1)
    }

    @Test func thePixelSizeIsThatOfTheBytesWhereTheOptionsReduceThem() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let encoding = ImageEncoding(.png, options: EncodeOptions(maximumSide: 8))
        let answer = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: encoding)
        #expect(max(answer.size.width, answer.size.height) == 8)
        #expect(try CoderRegistry.standard().probe(answer.data).size == answer.size)
    }

    @Test func theTagIsStrongAndTellsBytesFromOthers() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        let first = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .jpeg(quality: 0.9))
        let again = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .jpeg(quality: 0.9))
        let other = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .jpeg(quality: 0.2))
        #expect(first.etag == again.etag)
        #expect(first.etag != other.etag)
        #expect(first.etag.hasPrefix("\"") && first.etag.hasSuffix("\"") && first.etag.count == 34)
        #expect(first.matches(ifNoneMatch: first.etag))
        #expect(first.matches(ifNoneMatch: "\"x\", W/\(first.etag)"))
        #expect(first.matches(ifNoneMatch: "*"))
        #expect(!first.matches(ifNoneMatch: other.etag))
        #expect(!first.matches(ifNoneMatch: nil))
        #expect(!first.matches(ifNoneMatch: ""))
    }

    @Test(arguments: [0, 1]) func qualitiesFromZeroToOneAreTaken(quality: Double) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let answer = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .jpeg(quality: quality))
        #expect(!answer.data.isEmpty)
    }

    @Test(arguments: [-0.01, 1.01, 85, 1e300, .infinity, -.infinity, .nan])
    func anyOtherQualityIsRefusedBeforeAnythingIsAskedFor(quality: Double) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        for encoding in [ImageEncoding.jpeg(quality: quality), .webp(quality: quality)] {
            let error = await #expect(throws: ImagePipelineError.self) {
                try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: encoding)
            }
            guard case .encoding(_, .encodingFailed(_, let reason))? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("from 0 to 1"))
            #expect(encoding == encoding)
        }
        #expect(ImageEncoding.jpeg(quality: quality) == .jpeg(quality: quality))
        #expect(fixture.transport.requestCount == 0)
        // A key that did not equal itself would stay behind.
        #expect(await fixture.pipeline.jobCount == 0)
    }

    // MARK: - Kept

    @Test func aHitDecodesNothingAndAsksNobodyAlsoAfterARestart() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, processors: Self.small)
        let first = try await fixture.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        #expect(first.origin == .network)
        await flush(fixture)
        let later = PipelineFixture(folder: folder)
        let second = try await later.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        #expect(second.data == first.data)
        #expect(second.etag == first.etag)
        #expect(second.mediaType == "image/webp")
        #expect(second.size == PixelSize(16, 16))
        #expect(second.origin == .disk)
        #expect(later.decodes.value == 0)
        #expect(later.transport.requestCount == 0)
        // Another quality is another entry.
        _ = try await later.pipeline.encodedImage(for: request, as: .webp(quality: 0.2))
        #expect(later.decodes.value == 1)
    }

    /// A file has no HTTP metadata.
    @Test func whatIsEncodedOfAFileIsKeptToo() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let request = ImageRequest(TestFiles.url("png/rgb8.png"), processors: Self.small)
        let first = try await fixture.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        await flush(fixture)
        let later = PipelineFixture(folder: folder)
        let second = try await later.pipeline.encodedImage(for: request, as: .webp(quality: 0.8))
        #expect(second.data == first.data)
        #expect(second.origin == .disk)
        #expect(later.decodes.value == 0)
    }

    @Test func tenSizesAtOnceAreOneRequestAndTenHits() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let requests = (1...10).map {
            ImageRequest(url, processors: [ResizeProcessor(PixelSize($0, $0), mode: .fill)])
        }
        let pipeline = fixture.pipeline
        try await withThrowingTaskGroup { group in
            for request in requests { group.addTask { _ = try await pipeline.encodedImage(for: request, as: .png) } }
            try await fixture.transport.waitForRequests(1)
            gate.open()
            try await group.waitForAll()
        }
        #expect(fixture.transport.requestCount == 1)
        await flush(fixture)
        let later = PipelineFixture(folder: folder)
        for (index, request) in requests.enumerated() {
            let answer = try await later.pipeline.encodedImage(for: request, as: .png)
            #expect(answer.origin == .disk)
            #expect(answer.size == PixelSize(index + 1, index + 1))
        }
        #expect(later.decodes.value == 0)
        #expect(later.transport.requestCount == 0)
    }

    @Test func removingTheSourceRemovesWhatWasEncodedOfIt() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, processors: Self.small)
        _ = try await fixture.pipeline.encodedImage(for: request, as: .png)
        await flush(fixture)
        #expect(try await fixture.pipeline.encodedImage(for: request, as: .png).origin == .disk)
        await fixture.pipeline.cache.remove(url)
        #expect(try await fixture.pipeline.encodedImage(for: request, as: .png).origin == .network)
        #expect(fixture.transport.requestCount == 2)
        // And what comes after a removal is kept again.
        await flush(fixture)
        #expect(try await fixture.pipeline.encodedImage(for: request, as: .png).origin == .disk)
        await fixture.pipeline.cache.clearDisk()
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.encodedImage(for: request, as: .png).origin == .network)
    }

    @Test func policiesThatLeaveTheDiskAloneKeepNothing() async throws {
        for policy in [CachePolicy.noStore, .memoryOnly] {
            let fixture = PipelineFixture()
            let url = try fixture.serve("png/rgb8.png")
            let request = ImageRequest(url, cachePolicy: policy)
            _ = try await fixture.pipeline.encodedImage(for: request, as: .png)
            await flush(fixture)
            #expect(await fixture.diskEntries() == 0)
        }
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        await flush(fixture)
        // A reload asks the server, whatever is kept.
        #expect(
            try await fixture.pipeline.encodedImage(for: ImageRequest(url, cachePolicy: .reload), as: .png).origin
                == .network
        )
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func anAnswerComesAlsoWhereNothingCanBeWrittenOrRead() async throws {
        for fault in [FileOperation.write, .open, .read, .rename] {
            let files = FaultInjectingFileSystem()
            let folder = PipelineFixture.temporaryFolder()
            let fixture = PipelineFixture(folder: folder) {
                $0.cache = ImageCache(disk: DiskCache(folder: folder, fileSystem: files))
            }
            let url = try fixture.serve("png/rgb8.png")
            files.failAlways(fault, with: ENOSPC)
            let request = ImageRequest(url, processors: Self.small)
            let first = try await fixture.pipeline.encodedImage(for: request, as: .png)
            await flush(fixture)
            let second = try await fixture.pipeline.encodedImage(for: request, as: .png)
            #expect(first.etag == second.etag, "\(fault)")
        }
    }

    @Test func aDamagedEntryIsMadeAnew() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let url = try fixture.serve("png/rgb8.png")
        let first = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        await flush(fixture)
        let paths = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        for case let path as URL in paths ?? .init() where !path.hasDirectoryPath {
            let data = try Data(contentsOf: path)
            try Data(data.dropLast(20)).write(to: path)
        }
        let second = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(second.etag == first.etag)
        #expect(second.origin == .network)
    }

    // MARK: - Together

    @Test func manyWhoAskAtOnceShareOneEncode() async throws {
        let encoder = GatedEncoder()
        let fixture = PipelineFixture { $0.coders.add(encoder) }
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let pipeline = fixture.pipeline
        encoder.isHeld = false
        let stream = pipeline.events
        let tags = try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { try await pipeline.encodedImage(for: ImageRequest(url), as: .png).etag }
            }
            await PipelineFixture.waitForStarts(50, in: stream)
            try await fixture.transport.waitForRequests(1)
            gate.open()
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tags.count == 1)
        #expect(encoder.runs.value == 1)
        #expect(fixture.transport.requestCount == 1)
        #expect(await pipeline.jobCount == 0)
    }

    @Test func theEncodeEndsWithTheLastWhoWaitsForIt() async throws {
        let encoder = GatedEncoder()
        let fixture = PipelineFixture { $0.coders.add(encoder) }
        let url = try fixture.serve("png/rgb8.png")
        let pipeline = fixture.pipeline
        let stream = pipeline.events
        let waiters = (0..<2).map { _ in Task { try await pipeline.encodedImage(for: ImageRequest(url), as: .png) } }
        await PipelineFixture.waitForStarts(2, in: stream)
        try await encoder.started.wait()
        waiters[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiters[0].value }
        #expect(!encoder.cancelled.isOpen)
        waiters[1].cancel()
        await #expect(throws: CancellationError.self) { try await waiters[1].value }
        try await encoder.cancelled.wait()
        while await pipeline.jobCount > 0 { await Task.yield() }
        // A later request gets a new one.
        encoder.isHeld = false
        #expect(try await pipeline.encodedImage(for: ImageRequest(url), as: .png).mediaType == "image/png")
    }

    // MARK: - Errors

    @Test func aFormatThatCannotBeWrittenIsRefusedBeforeAnythingIsAskedFor() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        await #expect {
            _ = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: ImageEncoding(.svg))
        } throws: { error in
            guard case ImagePipelineError.encoding(_, .unsupportedFormat(.svg, nil)) = error else { return false }
            return (error as? ImagePipelineError)?.code == "encoding"
        }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func failuresAreTyped() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let page = PipelineFixture.url("page?token=secret")
        fixture.transport.answer(page, with: .data(Data("<html><body>no</body></html>".utf8)))
        let tiny = ImageEncoding(.jpeg, options: EncodeOptions(maximumBytes: 1))
        for (request, encoding, code) in [
            (ImageRequest(url), tiny, "encoding"), (ImageRequest(page), ImageEncoding.png, "notAnImage"),
            (ImageRequest(page), .original, "notAnImage"),
            (ImageRequest(PipelineFixture.url("none")), .png, "httpStatus"),
            (ImageRequest(nil as URL?), .png, "invalidRequest"),
            (ImageRequest(PipelineFixture.url("else"), cachePolicy: .onlyIfCached), .png, "notInCache"),
            (ImageRequest(url, processors: [FailingProcessor()]), .png, "processing"),
        ] {
            await #expect {
                _ = try await fixture.pipeline.encodedImage(for: request, as: encoding)
            } throws: { error in
                let error = error as? ImagePipelineError
                return error?.failure.code == code && error?.description.contains("secret") == false
            }
        }
        #expect(await fixture.pipeline.jobCount == 0)
    }

    // MARK: - The source's own bytes

    @Test func theOriginalIsPassedThroughUndecodedAndKept() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        let request = ImageRequest(url, processors: Self.small)
        let first = try await fixture.pipeline.encodedImage(for: request, as: .original)
        #expect(first.data == (try TestFiles.data("jpeg/baseline-420.jpg")))
        #expect(first.mediaType == "image/jpeg")
        #expect(first.size == (try CoderRegistry.standard().probe(first.data).size))
        await flush(fixture)
        let second = try await fixture.pipeline.encodedImage(for: request, as: .original)
        #expect(second.origin == .disk)
        #expect(second.etag == first.etag)
        #expect(fixture.decodes.value == 0)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func qualitiesByDefault() {
        #expect(ImageEncoding.jpeg() == .jpeg(quality: 0.85))
        #expect(ImageEncoding.webp() == .webp(quality: 0.8))
        #expect(ImageEncoding.avif() == .avif(quality: 0.6))
    }
}

/// A PNG encoder that begins and does not end before it is released or cancelled.
private final class GatedEncoder: ImageEncoder {
    let formats: [ImageFormat] = [.png]
    let runs = Counter()
    let started = ScriptedTransportGate()
    let cancelled = ScriptedTransportGate()
    private let held = Lock(true)

    var isHeld: Bool {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    func encode(_ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext) throws -> Data {
        runs.increment()
        started.open()
        // On a processor thread of the library's own.
        while isHeld {
            do {
                try context.checkCancellation()
            } catch {
                cancelled.open()
                throw error
            }
        }
        return try CoderRegistry.standard().encode(image, as: format, options: options, context: context)
    }
}
