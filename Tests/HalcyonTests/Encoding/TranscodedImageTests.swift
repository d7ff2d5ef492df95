import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// Sources that are rewritten in another format without loss, for a web response.
@Suite(.timeLimit(.minutes(5)))
struct TranscodedImageTests {
    private static let jpeg = "jxl/of-jpeg.jpg"
    private static let toJPEGXL = ImageEncoding.transcoded(to: .jpegXL)

    private func flush(_ fixture: PipelineFixture) async {
        await fixture.pipeline.shutdown(within: .seconds(300))
        fixture.pipeline.cache.clearMemory()
    }

    @Test func aBrowserGetsWhatItTakesOfOneSource() async throws {
        let fixture = PipelineFixture()
        let jpeg = try TestFiles.data(Self.jpeg)
        let url = try fixture.serve(Self.jpeg)
        // Size and processors are not of the source.
        let request = ImageRequest(url, processors: [ResizeProcessor(PixelSize(8, 8), mode: .fill)])
        let modern = try await fixture.pipeline.encodedImage(for: request, as: Self.toJPEGXL)
        #expect(modern.mediaType == "image/jxl")
        #expect(modern.size == PixelSize(290, 40))
        #expect(modern.data.count < jpeg.count)
        let plain = try await fixture.pipeline.encodedImage(for: request, as: .original)
        #expect(plain.data == jpeg)
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.decodes.value == 0)

        let other = try fixture.serve("jxl/of-jpeg.jxl")
        let rebuilt = try await fixture.pipeline.encodedImage(
            for: ImageRequest(other), as: .transcoded(to: .jpeg))
        #expect(rebuilt.data == jpeg)
        #expect(rebuilt.mediaType == "image/jpeg")
        let same = try await fixture.pipeline.encodedImage(for: ImageRequest(other), as: Self.toJPEGXL)
        #expect(try same.data == TestFiles.data("jxl/of-jpeg.jxl"))
    }

    @Test func itIsKeptForAllSizesAndGoesWithTheSource() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let url = try fixture.serve(Self.jpeg)
        let first = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: Self.toJPEGXL)
        #expect(first.origin == .network)
        await flush(fixture)
        let later = PipelineFixture(folder: folder)
        let small = ImageRequest(url, processors: [ResizeProcessor(PixelSize(8, 8), mode: .fill)])
        let second = try await later.pipeline.encodedImage(for: small, as: Self.toJPEGXL)
        #expect(second.data == first.data && second.etag == first.etag)
        #expect(second.origin == .disk)
        #expect(second.size == PixelSize(290, 40))
        #expect(later.transport.requestCount == 0)
        // Another effort is another entry, and an encoding of pixels as well.
        let quick = try await later.pipeline.encodedImage(for: small, as: .transcoded(to: .jpegXL, effort: 0))
        #expect(quick.data != first.data)
        let pixels = try await later.pipeline.encodedImage(for: ImageRequest(url), as: ImageEncoding(.jpegXL))
        #expect(pixels.data != first.data)
        await later.pipeline.cache.remove(url)
        try later.serve(Self.jpeg)
        #expect(try await later.pipeline.encodedImage(for: small, as: Self.toJPEGXL).origin == .network)
    }

    @Test func aSourceWithoutSuchAFormFailsAndIsNoBadSource() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        for _ in 0..<2 {
            let error = await #expect(throws: ImagePipelineError.self) {
                try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: Self.toJPEGXL)
            }
            guard case .encoding(_, .encodingFailed(.jpegXL, let reason))? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("png"))
        }
        // The bytes were kept, and are good for anything else.
        #expect(try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .webp()).size == PixelSize(48, 32))
        #expect(fixture.transport.requestCount == 1)
        let text = try fixture.serve("bad/text.txt")
        let error = await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.encodedImage(for: ImageRequest(text), as: Self.toJPEGXL)
        }
        #expect(error?.code == "notAnImage")
    }

    @Test func aFormatThatNoCoderKnowsIsRefusedBeforeAnythingIsAskedFor() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let unknown = ImageFormat("pcx", fileExtension: "pcx", mimeType: "image/x-pcx")
        let error = await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .transcoded(to: unknown))
        }
        guard case .encoding(_, .unsupportedFormat(unknown, nil))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fixture.transport.requestCount == 0)
        // A source may have a format already that nothing is rewritten as.
        let answer = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .transcoded(to: .png))
        #expect(try answer.data == TestFiles.data("png/rgb8.png"))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func encodingsAreEqualByFormatAndEffort() {
        #expect(Self.toJPEGXL == .transcoded(to: .jpegXL))
        #expect(Self.toJPEGXL != .transcoded(to: .jpeg))
        #expect(Self.toJPEGXL != ImageEncoding(.jpegXL))
        #expect(Self.toJPEGXL != .transcoded(to: .jpegXL, effort: 1))
        #expect(ImageEncoding.transcoded(to: .jpegXL, effort: .nan) == Self.toJPEGXL)
    }

    @Test func equalRequestsShareOneRun() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve(Self.jpeg, gate: gate)
        let pipeline = fixture.pipeline
        let answers = try await withThrowingTaskGroup(of: Data.self) { group in
            for side in 1...8 {
                let request = ImageRequest(url, processors: [ResizeProcessor(PixelSize(side, side), mode: .fill)])
                group.addTask { try await pipeline.encodedImage(for: request, as: Self.toJPEGXL).data }
            }
            try await fixture.transport.waitForRequests(1)
            gate.open()
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        #expect(fixture.transport.requestCount == 1)
    }
}
