import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Requests and tasks as they are printed.
@Suite(.timeLimit(.minutes(5)))
struct DescriptionTests {
    @Test func aRequestIsOneLineWithoutSecrets() {
        var request = ImageRequest(URL(web: "http://me:secret@images.test/a.png?secret=1#secret"))
        #expect("\(request)" == "ImageRequest(http://images.test/a.png)")
        request.decode.target = TargetSize(PixelSize(320, 240))
        request.processors = [.flip(.vertical), .flip(.horizontal)]
        request.priority = .high
        request.alternatives = [ImageSource(string: "http://images.test/b.png?secret=2")]
        request.network.headers = ["Authorization": "secret", "X-Shelf": "7"]
        request.network.credential = .bearer("secret")
        let text =
            "ImageRequest(http://images.test/a.png, fit 320x240, processors: 2, priority: high, alternatives: 1, "
            + "headers: Authorization X-Shelf, with a credential)"
        #expect("\(request)" == text && String(reflecting: request) == text)
        request.decode.target = TargetSize(PixelSize(320, .max))
        #expect("\(request)".contains("fit 320x?,"))
    }

    @Test func headersThatMayHoldASecretAreNotPrinted() {
        let headers: HTTPHeaders = ["Accept": "image/png", "authorization": "secret", "X-Api-Key": "secret"]
        #expect("\(headers)" == "Accept: image/png, authorization: ***, X-Api-Key: ***")
        #expect(String(reflecting: headers.fields[1]) == "authorization: ***")
    }

    @Test func aTaskTellsHowFarItIs() async throws {
        let fixture = PipelineFixture(disk: false)
        let (url, gate) = (PipelineFixture.url("a.png"), ScriptedTransportGate())
        let data = try TestFiles.data("png/rgb8.png")
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(20)), .wait(gate), .chunk(data.dropFirst(20))]))
        let task = fixture.pipeline.task(for: url)
        #expect("\(task)".hasPrefix("ImageTask(ImageRequest(http://images.test/a.png), "))
        for try await case .progress(let progress) in task.events where progress.received == 20 { break }
        #expect("\(task)" == "ImageTask(ImageRequest(http://images.test/a.png), 20 of \(data.count) bytes)")
        gate.open()
        _ = try await task.response
        #expect("\(task)".hasSuffix(", finished)"))
        let failed = fixture.pipeline.task(for: PipelineFixture.url("none"))
        _ = try? await failed.response
        #expect("\(failed)".hasSuffix(", failed: httpStatus)"))
        let cancelled = fixture.pipeline.task(for: PipelineFixture.url("other"))
        cancelled.cancel()
        #expect(String(reflecting: cancelled).hasSuffix(", cancelled)"))
    }
}
