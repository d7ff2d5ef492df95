import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Encodings of which something is found out first: the quality by a score, the format by the size of the file.
@Suite(.timeLimit(.minutes(5))) struct ChosenEncodingTests {
    /// Serves a picture of 448x448 pixels.
    private static func serve(_ fixture: PipelineFixture) throws -> URL {
        let url = PipelineFixture.url("sunflower.png")
        fixture.transport.answer(url, with: .data(try TestFiles.data("../../demo/gallery/sunflower.png")))
        return url
    }

    private func webp(_ score: Double, tolerance: Double = 1) -> ImageEncoding {
        ImageEncoding(
            .webp, options: EncodeOptions(qualityTarget: QualityTarget(score: score, tolerance: tolerance)))
    }

    @Test func aScoreIsMetAndKept() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let url = try Self.serve(fixture)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(160, 160))])
        let source = try await fixture.pipeline.image(for: request)
        for score in [70.0, 85] {
            let encoded = try await fixture.pipeline.encodedImage(for: request, as: webp(score))
            let found = try #require(try Image(data: encoded.data).bitmap.similarity(to: source.bitmap))
            #expect(abs(found - score) <= 1.5)
        }
        await fixture.pipeline.shutdown(within: .seconds(300))
        let later = PipelineFixture(folder: folder)
        #expect(try await later.pipeline.encodedImage(for: request, as: webp(85)).origin == .disk)
        #expect(later.decodes.value == 0)
        // Another score, tolerance or range is another entry, and so is a quality.
        let bounded = EncodeOptions(qualityTarget: QualityTarget(score: 85, qualities: 0.1...0.9))
        for encoding in [
            webp(84), webp(85, tolerance: 0.5), ImageEncoding(.webp, options: bounded), .webp(quality: 0.85),
        ] {
            #expect(await later.pipeline.cachedEncodedImage(for: request, as: encoding) == nil)
        }
    }

    @Test(arguments: [-1, 100.1, .nan, .infinity]) func aScoreThatIsNoneIsRefusedBeforeAnythingIsAskedFor(
        score: Double
    ) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        for encoding in [webp(score), ImageEncoding.png.orSmaller(webp(score))] {
            let error = await #expect(throws: ImagePipelineError.self) {
                try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: encoding)
            }
            guard case .encoding(_, .encodingFailed(.webp, let reason))? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("a score is from 0 to 100"))
            #expect(encoding == encoding)
        }
        #expect(fixture.transport.requestCount == 0)
        #expect(await fixture.pipeline.jobCount == 0)
    }

    @Test func theSmallestFileIsTheAnswer() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let url = try Self.serve(fixture)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(160, 160))])
        let several = [ImageEncoding.png, .jpeg(quality: 0.9), .webp(quality: 0.5), ImageEncoding(.gif)]
        var sizes: [String: Int] = [:]
        for encoding in several {
            let encoded = try await fixture.pipeline.encodedImage(for: request, as: encoding)
            sizes[encoded.mediaType] = encoded.data.count
        }
        let all = several.dropFirst().reduce(several[0]) { $0.orSmaller($1) }
        let smallest = try await fixture.pipeline.encodedImage(for: request, as: all)
        #expect(smallest.data.count == sizes.values.min() && smallest.mediaType == "image/webp", "\(sizes)")
        let two = try await fixture.pipeline.encodedImage(for: request, as: .png.orSmaller(.jpeg(quality: 0.9)))
        #expect(two.mediaType == "image/jpeg" && two.data.count == sizes["image/jpeg"])
        await fixture.pipeline.shutdown(within: .seconds(300))
        let later = PipelineFixture(folder: folder)
        let kept = try await later.pipeline.encodedImage(for: request, as: all)
        #expect(kept.origin == .disk && kept.mediaType == "image/webp" && kept.data == smallest.data)
        #expect(later.decodes.value == 0)
    }

    /// 20,000 pixels are more than WebP has.
    @Test func aFormatThatCannotHoldTheImageIsLeftOut() async throws {
        let fixture = PipelineFixture()
        let wide = try Image(width: 20_000, height: 2, pixels: [UInt8](repeating: 90, count: 160_000))
        let source = ImageSource.data(try wide.data(as: .png), key: "wide")
        let encoding = ImageEncoding.webp().orSmaller(.png)
        let encoded = try await fixture.pipeline.encodedImage(for: ImageRequest(source), as: encoding)
        #expect(encoded.mediaType == "image/png")
        let error = await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.encodedImage(
                for: ImageRequest(source), as: .webp().orSmaller(.webp(quality: 0.1)))
        }
        guard case .encoding(_, .encodingFailed(.webp, _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func encodingsThatAreEqualAreOne() {
        #expect(ImageEncoding.webp().orSmaller(.webp()) == .webp())
        #expect(ImageEncoding.png.orSmaller(.webp()).orSmaller(.png) == ImageEncoding.png.orSmaller(.webp()))
        #expect(ImageEncoding.png.orSmaller(.webp()) != .png)
        // The source's own bytes are compared with nothing.
        #expect(ImageEncoding.original.orSmaller(.webp()) == .original)
        #expect(ImageEncoding.webp().orSmaller(.original) == .webp())
        #expect(ImageEncoding.transcoded(to: .jpegXL).orSmaller(.png) == .transcoded(to: .jpegXL))
    }
}
