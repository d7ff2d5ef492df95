// The examples of docs/Testing.md, compiled and run. SnippetTests looks for each of its Swift blocks in this file.

import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import Testing

/// A processor of a program, which works row by row.
private struct Stamp: ImageProcessor {
    func encode(into key: inout KeyEncoder) { key.encode(type: "org.example.stamp", version: 1) }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        for _ in 0..<image.height { try context.checkCancellation() }
        return image
    }
}

@Suite(.timeLimit(.minutes(5)))
struct TestingSnippets {
    private let url: URL
    private let png: Data

    init() throws {
        url = try #require(URL(string: "http://images.example/a.png"))
        png = try Image(width: 4, height: 4, pixels: [UInt8](repeating: 200, count: 64)).data(as: .png)
    }

    @Test func aPipelineForTests() async throws {
        let (transport, clock) = (ScriptedTransport(), ManualClock())
        let pipeline = ImagePipeline(configuration: .testing(transport: transport, clock: clock))
        transport.answer(url, with: .data(png, headers: ["Cache-Control": "max-age=60"]))

        #expect(try await pipeline.response(for: url).origin == .network)
        #expect(try await pipeline.response(for: url).origin == .memory)
        clock.advance(by: .seconds(61))
        #expect(try await pipeline.response(for: url).origin == .network)
        #expect(transport.requestCount == 2)
    }

    @Test func answersInOrder() async throws {
        let transport = ScriptedTransport()
        let pipeline = ImagePipeline(configuration: .testing(transport: transport))
        transport.answer(url, with: .status(503), .failure(DownloadError(.connection(.reset), url: url)), .data(png))
        #expect(try await pipeline.response(for: url).metrics.retryCount == 2)
    }

    @Test func aTransportThatAnswersTheRest() async throws {
        let offline = ScriptedTransport { request in .failure(DownloadError(.offline, url: request.url)) }
        let pipeline = ImagePipeline(configuration: .testing(transport: offline))
        let error = await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: url) }
        #expect(error?.code == "offline")
    }

    @Test func aFolderThatStays() async throws {
        let (transport, clock) = (ScriptedTransport(), ManualClock())
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        transport.answer(url, with: .data(png, headers: ["ETag": "\"1\"", "Cache-Control": "no-cache"]), .status(304))
        let first = ImagePipeline(configuration: .testing(transport: transport, clock: clock, folder: folder))
        #expect(try await first.response(for: url).origin == .network)
        await first.shutdown()
        let second = ImagePipeline(configuration: .testing(transport: transport, clock: clock, folder: folder))
        #expect(try await second.response(for: url).origin == .revalidated)
    }

    @Test func theMomentBetween() async throws {
        let transport = ScriptedTransport()
        let pipeline = ImagePipeline(configuration: .testing(transport: transport))
        let gate = ScriptedTransportGate()
        var answer = ScriptedTransport.Answer.data(png)
        answer.headGate = gate
        transport.answer(url, with: answer)

        let task = pipeline.task(for: url)
        try await transport.waitForRequests(1)
        #expect(task.status == .running(nil))
        gate.open()
        #expect(try await task.response.image.size == PixelSize(4, 4))
    }

    @Test func aStoreOfYourOwn() async {
        let clock = ManualClock()
        let contract = CacheStoreContract(MemoryCacheStore(time: clock.timeSource)) { clock.advance(by: $0) }
        #expect(await contract.violations() == [])
    }

    @Test func aProcessorOfYourOwn() throws {
        let image = try Image(data: png)
        #expect(try Stamp().process(image, context: .uncancellable).size == image.size)
        #expect(throws: CancellationError.self) { try Stamp().process(image, context: .cancelled(atCheck: 2)) }
    }
}
