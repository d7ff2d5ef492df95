import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// HTTP's freshness of an image counts, in memory as on disk.
@Suite struct FreshnessTests {
    private let clock = ManualClock()

    private func fixture() -> PipelineFixture {
        PipelineFixture(clock: clock.timeSource)
    }

    private func script(
        _ fixture: PipelineFixture, _ url: URL, headers: HTTPHeaders, then answers: ScriptedTransport.Answer
    ) throws {
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png"), headers: headers), answers)
    }

    @Test func freshIsServedWithoutAsking() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(fixture, url, headers: ["Cache-Control": "max-age=60"], then: .status(500))
        _ = try await fixture.pipeline.image(for: url)
        clock.advance(by: .seconds(59))
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .memory)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .disk)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func pastItsFreshnessItIsRevalidatedAndA304CostsNoBody() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(
            fixture, url, headers: ["Cache-Control": "max-age=60", "ETag": "\"one\""],
            then: .status(304, headers: ["Cache-Control": "max-age=100"]))
        _ = try await fixture.pipeline.image(for: url)
        clock.advance(by: .seconds(61))
        let again = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(again.origin == .revalidated)
        #expect(fixture.transport.requests.last?.headers["If-None-Match"] == "\"one\"")
        // The answer's headers count from now on, on disk as well.
        clock.advance(by: .seconds(99))
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .memory)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .disk)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aChangedImageReplacesTheOldOne() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(
            fixture, url, headers: ["Cache-Control": "max-age=60", "ETag": "\"one\""],
            then: .data(try TestFiles.data("jpeg/gray.jpg"), headers: ["ETag": "\"two\""]))
        _ = try await fixture.pipeline.image(for: url)
        clock.advance(by: .seconds(61))
        let again = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(again.origin == .network)
        #expect(again.image.info.format == .jpeg)
    }

    @Test(arguments: [DownloadError.Reason.offline, .connection(.refused), .timeout(.connect)])
    func whenTheServerCannotBeAskedTheStaleImageIsServedAndSaysSo(reason: DownloadError.Reason) async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(
            fixture, url, headers: ["Cache-Control": "max-age=60"], then: .failure(DownloadError(reason, url: url)))
        _ = try await fixture.pipeline.image(for: url)
        clock.advance(by: .seconds(61))
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .stale)
    }

    @Test func mustRevalidateForbidsTheStaleImage() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(
            fixture, url, headers: ["Cache-Control": "max-age=60, must-revalidate"],
            then: .failure(DownloadError(.offline, url: url)))
        _ = try await fixture.pipeline.image(for: url)
        clock.advance(by: .seconds(61))
        await #expect {
            try await fixture.pipeline.response(for: ImageRequest(url))
        } throws: {
            ($0 as? ImagePipelineError)?.code == "offline"
        }
    }

    @Test(arguments: [410, 500]) func aServerThatAnswersWithAnErrorIsBelieved(status: Int) async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(fixture, url, headers: ["Cache-Control": "max-age=60"], then: .status(status))
        _ = try await fixture.pipeline.image(for: url)
        clock.advance(by: .seconds(61))
        await #expect {
            try await fixture.pipeline.response(for: ImageRequest(url))
        } throws: {
            ($0 as? ImagePipelineError)?.code == "httpStatus"
        }
    }

    @Test func noStoreIsKeptNowhere() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(fixture, url, headers: ["Cache-Control": "no-store"], then: .status(404))
        _ = try await fixture.pipeline.image(for: url)
        #expect(await fixture.diskEntries() == 0)
        #expect(await fixture.pipeline.configuration.cache.cachedLevel(for: ImageRequest(url)) == nil)
    }

    @Test func noCacheIsAskedForEachTime() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(fixture, url, headers: ["Cache-Control": "no-cache", "ETag": "\"one\""], then: .status(304))
        _ = try await fixture.pipeline.image(for: url)
        for _ in 0..<3 {
            #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .revalidated)
        }
        #expect(fixture.transport.requestCount == 4)
    }

    @Test(arguments: [(302, 2), (301, 1)]) func aTemporaryRedirectIsAskedForAgain(status: Int, times: Int) async throws
    {
        let fixture = fixture()
        let (url, target) = (PipelineFixture.url("me"), PipelineFixture.url("v1"))
        fixture.transport.answer(url, with: .redirect(status, to: "/v1"))
        fixture.transport.answer(
            target, with: .data(try TestFiles.data("png/rgb8.png"), headers: ["Cache-Control": "max-age=9999"]))
        for _ in 0..<2 { _ = try await fixture.pipeline.image(for: url) }
        #expect(fixture.transport.requests(for: url).count == times)
    }

    @Test func noCacheIsNotServedStale() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(
            fixture, url, headers: ["Cache-Control": "no-cache"], then: .failure(DownloadError(.offline, url: url)))
        _ = try await fixture.pipeline.image(for: url)
        await #expect {
            try await fixture.pipeline.response(for: ImageRequest(url))
        } throws: {
            ($0 as? ImagePipelineError)?.code == "offline"
        }
    }

    @Test func aReloadThatMayNotBeKeptTakesTheOldImageAway() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        let answer = ScriptedTransport.Answer.data(
            try TestFiles.data("jpeg/gray.jpg"), headers: ["Cache-Control": "no-store"])
        try script(fixture, url, headers: ["Cache-Control": "max-age=600"], then: answer)
        _ = try await fixture.pipeline.image(for: url)
        _ = try await fixture.pipeline.image(for: ImageRequest(url, cachePolicy: .reload))
        #expect(await fixture.pipeline.cache.cachedLevel(for: ImageRequest(url)) == nil)
        #expect(try await fixture.pipeline.image(for: url).info.format == .jpeg)
        #expect(fixture.transport.requestCount == 3)
    }

    @Test func ignoringFreshnessTakesWhatIsThere() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(fixture, url, headers: ["Cache-Control": "max-age=60"], then: .status(500))
        var request = ImageRequest(url)
        request.cachePolicy.freshness = .ignore
        _ = try await fixture.pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
    }

    @Test func anAnswerToOtherHeadersIsNoAnswerWhereTheServerSaysThatTheyMatter() async throws {
        let fixture = fixture()
        let url = PipelineFixture.url("a")
        try script(
            fixture, url, headers: ["Vary": "Accept-Language", "Cache-Control": "max-age=60"], then: .status(404))
        var german = ImageRequest(url)
        german.network.headers.set("Accept-Language", "de")
        _ = try await fixture.pipeline.image(for: german)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: german).origin == .disk)
        // Neither memory nor disk may answer for another language.
        var danish = ImageRequest(url)
        danish.network.headers.set("Accept-Language", "da")
        await #expect {
            try await fixture.pipeline.response(for: danish)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "httpStatus"
        }
    }
}
