import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonTesting
import TestSupport
import Testing

/// Transfers that their first bytes end, since the picture in them is above the limits of the request.
@Suite(.timeLimit(.minutes(5)))
struct FirstByteLimitTests {
    private static let files = [
        "bmp/24.bmp", "gif/still.gif", "jpeg/baseline-420.jpg", "png/rgb8.png", "qoi/opaque.qoi", "webp/lossy.webp",
    ]

    private let fixture = PipelineFixture { $0.coders = .standard() }
    private let url = PipelineFixture.url("a")

    private func request(above pixels: Int = 100) -> ImageRequest {
        var request = ImageRequest(url)
        request.decode.limits.maximumSourcePixels = pixels
        request.network.stopsAtLimits = true
        return request
    }

    /// Scripts all but the last byte of a file, in pieces, and then nothing for ever.
    private func drip(_ file: String, pieces: Int) throws {
        let data = try TestFiles.data(file).dropLast()
        let steps = stride(from: data.startIndex, to: data.endIndex, by: pieces).map {
            ScriptedTransport.Answer.Step.chunk(Data(data[$0..<min($0 + pieces, data.endIndex)]))
        }
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count + 1)", "Cache-Control": "max-age=600"],
                steps: steps + [.wait(ScriptedTransportGate())]))
    }

    /// The error of a decode of the whole file.
    private func whole(_ file: String, _ request: ImageRequest) throws -> CodecError {
        try #require(throws: CodecError.self) {
            try CoderRegistry.standard().decode(TestFiles.data(file), options: request.decode)
        }
    }

    @Test(arguments: files) func theLoadEndsWithTheErrorOfTheDecode(file: String) async throws {
        let wanted = try whole(file, request())
        for pieces in [1 << 20, 1] {
            try drip(file, pieces: pieces)
            let error = try await #require(throws: ImagePipelineError.self) {
                try await fixture.pipeline.image(for: request())
            }
            #expect(error.stage == .decoding)
            #expect(error.underlying as? CodecError == wanted)
            let encoded = try await #require(throws: ImagePipelineError.self) {
                try await fixture.pipeline.encodedImage(for: request(), as: .original)
            }
            #expect(encoded.code == "limitExceeded")
        }
        // Each is asked for once, and nothing of them is kept.
        #expect(fixture.transport.requestCount == 4)
        #expect(fixture.transport.cancelled.count == 4)
        #expect(await fixture.diskEntries() == 0)
    }

    @Test(arguments: files) func aPictureWithinTheLimitsIsLoaded(file: String) async throws {
        fixture.transport.answer(url, with: .data(try TestFiles.data(file), headers: ["Cache-Control": "max-age=600"]))
        let area = try #require(CoderRegistry.standard().probe(TestFiles.data(file)).size.area)
        #expect(try await fixture.pipeline.image(for: request(above: area)).size.area == area)
        #expect(await fixture.diskEntries() == 1)
    }

    @Test func theLimitsOfOneRequestAreNoOtherOnes() async throws {
        let gate = ScriptedTransportGate()
        let answer = ScriptedTransport.Answer.data(try TestFiles.data("jpeg/baseline-420.jpg"))
        fixture.transport.answer(url, with: answer.held(by: gate))
        let strict = Task { try await fixture.pipeline.image(for: request()) }
        let loose = Task { try await fixture.pipeline.image(for: request(above: 1 << 20)) }
        try await fixture.transport.waitForRequests(2)
        gate.open()
        await #expect(throws: ImagePipelineError.self) { try await strict.value }
        #expect(try await loose.value.size.isEmpty == false)
    }

    @Test func theBytesThemselvesHaveNoSuchLimit() async throws {
        let data = try TestFiles.data("jpeg/baseline-420.jpg")
        fixture.transport.answer(url, with: .data(data))
        #expect(try await fixture.pipeline.data(for: request()) == data)
    }

    @Test func anAlternativeStandsIn() async throws {
        try drip("jpeg/baseline-420.jpg", pieces: 1 << 20)
        var request = request()
        request.alternatives = [.data(try TestFiles.data("png/1x1.png"), key: "small")]
        #expect(try await fixture.pipeline.image(for: request).size == PixelSize(1, 1))
    }

    /// A picture that has grown above the limits is an error, as it is once all of it has arrived, and the former one stays on the disk.
    @Test func aPictureThatHasGrownIsAnError() async throws {
        let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "no-cache"]
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/1x1.png"), headers: headers))
        #expect(try await fixture.pipeline.image(for: request()).size == PixelSize(1, 1))
        #expect(await fixture.diskEntries() == 1)
        fixture.pipeline.cache.clearMemory()
        try drip("jpeg/baseline-420.jpg", pieces: 1 << 20)
        let error = try await #require(throws: ImagePipelineError.self) {
            try await fixture.pipeline.image(for: request())
        }
        #expect(error.code == "limitExceeded")
        #expect(await fixture.diskEntries() == 1)
    }
}
