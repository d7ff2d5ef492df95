import Foundation
import Halcyon
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// The freshness of an encoded response, and its renewal.
@Suite(.timeLimit(.minutes(5)))
struct EncodedFreshnessTests {
    private func flush(_ fixture: PipelineFixture) async {
        await fixture.pipeline.shutdown(within: .seconds(300))
        fixture.pipeline.cache.clearMemory()
    }

    @Test func theTimeThatIsLeftIsPassedOn() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=100, must-revalidate"])
        let first = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(first.freshness.maximumAge == 100)
        #expect(first.freshness.cacheControl == "max-age=100, must-revalidate")
        await flush(fixture)
        clock.advance(by: .seconds(40))
        let second = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(second.origin == .disk)
        #expect(second.freshness.maximumAge == 60)
    }

    @Test(
        arguments: [
            ("no-cache", "no-cache"), ("private, max-age=5", "private, max-age=5"), ("no-store", "no-store"),
            ("max-age=99999999999999999999", "max-age=315360000"), ("", nil),
        ] as [(String, String?)])
    func cacheControlOfServerIsPassedOn(sent: String, told: String?) async throws {
        let fixture = PipelineFixture(clock: ManualClock().timeSource)
        let url = try fixture.serve("png/rgb8.png", headers: sent.isEmpty ? [:] : ["Cache-Control": sent])
        let answer = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(answer.freshness.cacheControl == told)
    }

    @Test func imageRequestedWithCredentialIsPrivate() async throws {
        let fixture = PipelineFixture(clock: ManualClock().timeSource)
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=5"])
        let open = PipelineFixture.url("public")
        fixture.transport.answer(
            open, with: .data(try TestFiles.data("png/rgb8.png"), headers: ["Cache-Control": "public, max-age=5"]))
        let options = NetworkOptions(headers: ["Authorization": "Bearer x"])
        let answer = try await fixture.pipeline.encodedImage(for: ImageRequest(url, network: options), as: .png)
        #expect(answer.freshness.cacheControl == "private, max-age=5")
        let other = try await fixture.pipeline.encodedImage(for: ImageRequest(open, network: options), as: .png)
        #expect(other.freshness.cacheControl == "max-age=5")
    }

    /// A cookie that the transport adds is not visible above it.
    @Test(arguments: [true, false])
    func imageFromCookieTransportIsPrivate(keepsCookies: Bool) async throws {
        let image = try TestFiles.data("png/rgb8.png")
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            try connection.answer(image, fields: "Cache-Control: max-age=5\r\n")
        }
        defer { server.stop() }
        var curl = CurlTransport.Configuration()
        curl.keepsCookies = keepsCookies
        let transport = PatientTransport(CurlTransport(curl))
        let pipeline = ImagePipeline(
            configuration: .init(
                cache: ImageCache(disk: nil), downloader: ImageDownloader(.init(transport: transport)),
                clock: ManualClock().timeSource))
        let answer = try await pipeline.encodedImage(for: ImageRequest(server.url("/me.png")), as: .png)
        #expect(answer.freshness.cacheControl == (keepsCookies ? "private, max-age=5" : "max-age=5"))
    }

    @Test func noStoreIsKeptNowhere() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "no-store"])
        for count in 1...2 {
            let answer = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
            #expect(answer.freshness.isNotStored)
            await flush(fixture)
            #expect(fixture.transport.requestCount == count)
        }
        #expect(await fixture.diskEntries() == 0)
    }

    @Test func aRevalidatedSourceNeedsNoSecondEncode() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = PipelineFixture.url("validated")
        let data = try TestFiles.data("png/rgb8.png")
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"1\""]
        fixture.transport.answer(url, with: .data(data, headers: headers), .status(304, headers: headers))
        let first = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .webp(quality: 0.8))
        await flush(fixture)
        clock.advance(by: .seconds(20))
        let second = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .webp(quality: 0.8))
        #expect(second.origin == .revalidated)
        #expect(second.cacheRule == .revalidated)
        #expect(second.etag == first.etag)
        #expect(second.freshness.maximumAge == 10)
        #expect(fixture.decodes.value == 1)
        #expect(fixture.transport.requestCount == 2)
        // And it is fresh again.
        await flush(fixture)
        clock.advance(by: .seconds(5))
        let third = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .webp(quality: 0.8))
        #expect(third.origin == .disk)
        #expect(third.freshness.maximumAge == 5)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aSourceThatHasChangedIsEncodedAnewAtEverySize() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = PipelineFixture.url("changing")
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10"]
        fixture.transport.answer(
            url, with: .data(try TestFiles.data("png/rgb8.png"), headers: headers),
            .data(try TestFiles.data("jpeg/baseline-420.jpg"), headers: headers))
        let small = ImageRequest(url, processors: [ResizeProcessor(PixelSize(8, 8), mode: .fill)])
        let former = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        let formerSmall = try await fixture.pipeline.encodedImage(for: small, as: .png)
        await flush(fixture)
        clock.advance(by: .seconds(20))
        let new = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(new.etag != former.etag)
        #expect(fixture.transport.requestCount == 2)
        await flush(fixture)
        let newSmall = try await fixture.pipeline.encodedImage(for: small, as: .png)
        #expect(newSmall.etag != formerSmall.etag)
        // The new bytes were on disk: one request served both.
        #expect(fixture.transport.requestCount == 2)
        await flush(fixture)
        #expect(try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png).origin == .disk)
    }

    @Test func aServerThatFailsLeavesWhatMayBeUsedStale() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = PipelineFixture.url("failing")
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-if-error=100"]
        fixture.transport.answer(
            url, with: .data(try TestFiles.data("png/rgb8.png"), headers: headers), .status(500))
        let first = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        await flush(fixture)
        clock.advance(by: .seconds(20))
        let second = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(second.etag == first.etag)
        #expect(second.origin == .stale)
        #expect(second.cacheRule == .staleIfError)
        #expect(second.freshness.maximumAge == 0)
        #expect(fixture.decodes.value == 1)
    }
}
