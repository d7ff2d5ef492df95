import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

/// HTTP's caching rules, row by row, through the whole pipeline: with the image in memory, and from disk alone.
@Suite(.timeLimit(.minutes(5)))
struct HTTPCacheTableTests {
    @Test func thereAreEnoughRowsAndNoTwoAreTheSame() {
        #expect(HTTPCacheCase.all.count >= 60)
        #expect(Set(HTTPCacheCase.all.map(\.testDescription)).count == HTTPCacheCase.all.count)
    }

    @Test(arguments: HTTPCacheCase.all, [true, false])
    func theRuleHolds(_ row: HTTPCacheCase, inMemory: Bool) async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource) {
            // The rows that go beyond the time an image stays in memory are about HTTP's time.
            $0.cache = ImageCache(
                memory: MemoryCacheConfiguration(timeToLive: nil), disk: $0.cache.disk, clock: clock.timeSource,
                memoryPressure: nil)
            // The rows of failures are about what the caches do with them.
            $0.rememberedFailures = .none
        }
        let url = PipelineFixture.url("a")
        try script(row, fixture, url)
        _ = try? await fixture.pipeline.image(for: request(row.firstRequest, url))
        await fixture.pipeline.cache.disk?.flush()
        let before = fixture.transport.requestCount
        clock.advance(by: .seconds(row.after))
        if !inMemory { fixture.pipeline.cache.clearMemory() }

        var second = request(row.request, url)
        second.cachePolicy.freshness = row.freshness
        second.cachePolicy.allowsNetwork = row.allowsNetwork
        var keepsRule = false
        do {
            let response = try await fixture.pipeline.response(for: second)
            keepsRule = response.cacheRule == row.rule
            #expect(response.origin == origin(row.delivers, inMemory: inMemory))
            #expect(response.cacheRule == row.rule)
            #expect(response.image.info.format == (row.delivers == .network ? .jpeg : .png))
        } catch let error as ImagePipelineError {
            keepsRule = row.delivers == .error(error.code)
            #expect(keepsRule, "\(error)")
        }
        // A request behind the response may not have begun yet; where the rule failed, it never will.
        if keepsRule { try await fixture.transport.waitForRequests(before + row.requests) }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        check(fixture.transport.requests.dropFirst(before), row)
    }

    private func request(_ headers: HTTPHeaders, _ url: URL) -> ImageRequest {
        var request = ImageRequest(url)
        request.network.headers = headers
        return request
    }

    private func script(_ row: HTTPCacheCase, _ fixture: PipelineFixture, _ url: URL) throws {
        let other = try TestFiles.data("jpeg/gray.jpg")
        let first = ScriptedTransport.Answer.data(
            try TestFiles.data("png/rgb8.png"), status: row.status, headers: row.first)
        switch row.answer {
        case .changed(let headers):
            fixture.transport.answer(url, with: first, .data(other, headers: headers))
        case .notModified(let headers):
            fixture.transport.answer(url, with: first, .status(304, headers: headers), .data(other))
        case .status(let status):
            fixture.transport.answer(url, with: first, .status(status))
        case .offline:
            fixture.transport.answer(url, with: first, .failure(DownloadError(.offline, url: url)))
        }
    }

    private func origin(_ delivery: HTTPCacheCase.Delivery, inMemory: Bool) -> ImageOrigin? {
        switch delivery {
        case .cache: inMemory ? .memory : .disk
        case .stale: .stale
        case .revalidated: .revalidated
        case .network: .network
        case .error: nil
        }
    }

    private func check(_ sent: ArraySlice<TransportRequest>, _ row: HTTPCacheCase) {
        #expect(sent.count == row.requests)
        guard let headers = sent.first?.headers, let expected = row.sends else { return }
        for field in expected.fields { #expect(headers.values(of: field.name) == [field.value]) }
        for name in ["If-None-Match", "If-Modified-Since"] where !expected.contains(name) {
            #expect(!headers.contains(name))
        }
        // A repeated request has no validators.
        guard row.rule == .replaced, let again = sent.dropFirst().first else { return }
        #expect(!again.headers.contains("If-None-Match") && !again.headers.contains("If-Modified-Since"))
    }
}
