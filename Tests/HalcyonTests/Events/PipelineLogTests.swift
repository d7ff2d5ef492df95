import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import Logging
import TestSupport
import Testing

/// The log messages of a pipeline.
@Suite(.timeLimit(.minutes(5)))
struct PipelineLogTests {
    private func fixture(_ lines: LogLines, level: Logger.Level = .trace) -> PipelineFixture {
        var logger = Logger(label: "test") { _ in CollectingHandler(lines: lines) }
        logger.logLevel = level
        return PipelineFixture { [logger] in $0.logger = logger }
    }

    @Test func loadsAreToldAtDebug() async throws {
        let lines = LogLines()
        let fixture = fixture(lines)
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        _ = try await fixture.pipeline.image(for: url)
        await fixture.waitForEnds()
        let all = lines.all
        #expect(all.allSatisfy { $0.level == .debug })
        #expect(all.contains { $0.text.contains("transfer ended: status 200") })
        #expect(all.contains { $0.text.contains("hit in memory") })
        #expect(all.allSatisfy { $0.metadata["source"] == "http://images.test/png/rgb8.png" })
    }

    @Test func sharedWorkIsLoggedOnceWithItsNumbers() async throws {
        let lines = LogLines()
        let fixture = fixture(lines)
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let tasks = (0..<5).map { _ in fixture.pipeline.task(for: url) }
        while await !fixture.pipeline.isWaitingForBytes(5) { await Task.yield() }
        gate.open()
        for task in tasks { _ = try await task.response }
        await fixture.waitForEnds()
        let all = lines.all
        func metadata(_ text: String) -> [[String: String]] { all.filter { $0.text.contains(text) }.map(\.metadata) }
        #expect(metadata("transfer started").count == 1 && metadata("stored in memory").count == 1)
        let transfer = try #require(metadata("transfer ended").first)
        #expect(metadata("transfer ended").count == 1 && metadata("decoded").count == 1)
        let data = try TestFiles.data("png/rgb8.png")
        #expect(transfer["bytes"] == "\(data.count)" && transfer["status"] == "200")
        let decoded = try #require(metadata("decoded").first)
        let size = try Image(data: data).size
        #expect(Double(decoded["seconds"] ?? "") ?? -1 > 0 && decoded["pixels"] == "\(size)")
        // Each load has a beginning and an end of its own.
        #expect(
            metadata("started").count - metadata("transfer started").count == 5 && metadata("ended: from").count == 5)
        #expect(metadata("ended: from").allSatisfy { $0["origin"] == "network" && $0["seconds"] != nil })
        #expect(Set(metadata("ended: from").compactMap { $0["load"] }).count == 5)
    }

    @Test func lastingFailuresAreWarningsAndPassingOnesNotices() async throws {
        let lines = LogLines()
        let fixture = fixture(lines, level: .notice)
        let reset = PipelineFixture.url("reset")
        fixture.transport.answer(reset, with: .failure(DownloadError(.connection(.refused), url: reset)))
        let page = PipelineFixture.url("page")
        fixture.transport.answer(page, with: .data(Data("<html></html>".utf8)))
        for url in [PipelineFixture.url("none"), reset, page, PipelineFixture.url("none")] {
            _ = try? await fixture.pipeline.image(for: url)
        }
        await fixture.waitForEnds()
        // The last failure is remembered, and was reported.
        #expect(lines.all.map(\.level) == [.warning, .notice, .warning])
        #expect(lines.all.map { $0.metadata["stage"] } == ["network", "network", "decoding"])
        #expect(lines.all.map { $0.metadata["code"] } == ["httpStatus", "connection", "notAnImage"])
    }

    @Test(
        arguments: [
            (404, .warning), (408, .notice), (429, .notice), (430, .warning), (499, .warning), (500, .notice),
            (503, .notice),
        ] as [(Int, Logger.Level)])
    func aStatusThatMayPassIsANotice(status: Int, level: Logger.Level) async throws {
        let lines = LogLines()
        let fixture = fixture(lines, level: .notice)
        let url = PipelineFixture.url("picture")
        fixture.transport.answer(url, with: .status(status))
        _ = try? await fixture.pipeline.image(for: ImageRequest(url))
        await fixture.waitForEnds()
        #expect(lines.all.map(\.level) == [level])
    }

    @Test func noSecretIsEverWritten() async throws {
        let lines = LogLines()
        let fixture = fixture(lines)
        let data = try TestFiles.data("png/rgb8.png")
        let url = URL(web: "http://secretuser:secretword@images.test/a.png?secretquery=1#secretfragment")
        let target = URL(web: "http://images.test/b.png?secrettarget=1")
        fixture.transport.answer(url, with: .redirect(to: target.absoluteString))
        fixture.transport.answer(target, with: .data(data))
        var request = ImageRequest(url)
        request.network.headers = ["Authorization": "Bearer secrettoken", "Cookie": "secretcookie"]
        _ = try? await fixture.pipeline.image(for: request)
        request.source = .remote(URL(web: "http://images.test/none?secretquery=2"))
        request.alternatives = [.remote(URL(web: "http://images.test/none/either?secretquery=3"))]
        _ = try? await fixture.pipeline.image(for: request)
        _ = try? await fixture.pipeline.image(for: URL(web: "data:image/png;base64,secretdata"))
        await fixture.waitForEnds()
        #expect(lines.all.count > 5)
        #expect(!lines.all.contains { "\($0)".contains("secret") })
    }
}

extension PipelineFixture {
    /// The last event of a load is reported just after its result.
    fileprivate func waitForEnds() async {
        while await pipeline.runningCount > 0 { await Task.yield() }
    }
}

/// The messages that were logged.
private final class LogLines: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let text: String
        let metadata: [String: String]
    }

    private let lines = Lock<[Line]>([])

    var all: [Line] { lines.withLock { $0 } }

    func add(_ line: Line) {
        lines.withLock { $0.append(line) }
    }
}

private struct CollectingHandler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(lines: LogLines) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = event.metadata?.mapValues { "\($0)" } ?? [:]
        lines.add(.init(level: event.level, text: "\(event.message)", metadata: metadata))
    }
}
