import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The effects of a downloader's hooks on a load.
@Suite(.timeLimit(.minutes(5)))
struct DownloadHookLoadTests {
    /// T-10: what the decryptor makes is what is decoded and cached.
    @Test func dataHookOutputIsDecodedAndCached() async throws {
        let transport = ScriptedTransport()
        let fixture = PipelineFixture {
            var download = ImageDownloader.Configuration(transport: transport)
            download.hooks.data = { data, _ in Data(data.reversed()) }
            $0.downloader = ImageDownloader(download)
        }
        let url = PipelineFixture.url("sealed")
        let data = try TestFiles.data("png/rgb8.png")
        transport.answer(url, with: .data(Data(data.reversed())))
        var request = ImageRequest(url)
        request.wantsPreviews = true
        #expect(try await fixture.pipeline.response(for: request).image.info.format == .png)
        _ = await fixture.diskEntries()
        #expect(await fixture.pipeline.cache.storedOriginal(for: url)?.data == data)
    }

    @Test func aRefusalNamesTheSourceAndIsNoProcessorsError() async throws {
        struct Nope: Error {}
        let fixture = PipelineFixture {
            var download = ImageDownloader.Configuration(transport: ScriptedTransport())
            download.hooks.request = { _ in throw Nope() }
            $0.downloader = ImageDownloader(download)
        }
        await #expect {
            try await fixture.pipeline.image(for: PipelineFixture.url("a?secret=1"))
        } throws: {
            let error = $0 as? ImagePipelineError
            return error?.code == "refused" && error?.source == "http://images.test/a"
        }
    }
}
