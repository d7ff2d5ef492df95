import Foundation
import Halcyon
import HalcyonCodecs
import TestSupport
import Testing

@Suite struct RequestCodersTests {
    /// A decoder that returns a white pixel for every PNG.
    private struct White: ImageDecoder {
        let formats = [ImageFormat.png]

        func canDecode(_ data: Data) -> Bool { true }
        func probe(_ data: Data) throws -> ImageInfo { ImageInfo(format: .png, size: PixelSize(1, 1)) }
        func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try Bitmap(size: PixelSize(1, 1), isOpaque: true, pixels: [255, 255, 255, 255])
        }
    }

    @Test func aRequestMayBringItsCoders() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let plain = ImageRequest(url)
        var own = plain
        own.coders = CoderRegistry([White()])
        let size = try await fixture.pipeline.image(for: plain).size
        // Neither finds what the other made, in either order; the bytes came once.
        #expect(try await fixture.pipeline.response(for: own).image.size == PixelSize(1, 1))
        #expect(try await fixture.pipeline.response(for: own).origin == .memory)
        let again = try await fixture.pipeline.response(for: plain)
        #expect(again.image.size == size && again.origin == .memory)
        #expect(fixture.transport.requestCount == 1)
        // Another registry of the same coders is another one.
        own.coders = CoderRegistry([White()])
        #expect(try await fixture.pipeline.response(for: own).origin == .disk)
    }

    @Test func loadsAtTheSameTimeDoNotShareTheirImages() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let plain = ImageRequest(url)
        var own = plain
        own.coders = CoderRegistry([White()])
        async let first = fixture.pipeline.response(for: plain)
        async let second = fixture.pipeline.response(for: own)
        let sizes = try await [first.image.size, second.image.size]
        #expect(sizes[0] != sizes[1] && sizes[1] == PixelSize(1, 1))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func withoutItsFormatARequestFails() async throws {
        let fixture = PipelineFixture()
        var request = ImageRequest(try fixture.serve("png/rgb8.png"))
        request.coders = CoderRegistry()
        await #expect {
            try await fixture.pipeline.response(for: request)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "unsupportedFormat"
        }
    }
}
