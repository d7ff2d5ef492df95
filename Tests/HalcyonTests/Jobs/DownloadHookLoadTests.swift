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

    /// The bytes of a transfer are not those of the image until the hook has seen the last one.
    @Test(arguments: [false, true])
    func aDataHookTurnsPreviewsOff(hasHook: Bool) async throws {
        let transport = ScriptedTransport()
        let fixture = PipelineFixture(disk: false) {
            var download = ImageDownloader.Configuration(transport: transport)
            if hasHook { download.hooks.data = { data, _ in data } }
            ($0.downloader, $0.coders) = (ImageDownloader(download), .standard())
        }
        let url = PipelineFixture.url("sealed")
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let rest = ScriptedTransportGate()
        let steps: [ScriptedTransport.Answer.Step] = [
            .chunk(data.dropLast(20)), .wait(rest), .chunk(data.suffix(20)),
        ]
        transport.answer(url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps))
        var request = ImageRequest(url)
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        var previews = 0
        let task = fixture.pipeline.task(for: request)
        for try await event in task.events {
            switch event {
            case .preview:
                previews += 1
                rest.open()
            // Without a hook, the preview of these bytes is awaited.
            case .progress: if hasHook { rest.open() }
            default: break
            }
        }
        #expect((previews == 0) == hasHook, "\(previews)")
        #expect(try await task.response.image.info.format == .jpeg)
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
