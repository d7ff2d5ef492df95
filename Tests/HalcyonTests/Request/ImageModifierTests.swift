import Foundation
import Halcyon
import HalcyonProcessing
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Modifiers, which change an image when it is delivered.
@Suite(.timeLimit(.minutes(5))) struct ImageModifierTests {
    private func request(_ url: URL, _ modifier: ImageModifier?) -> ImageRequest {
        var request = ImageRequest(url)
        request.modifier = modifier
        return request
    }

    @Test func modifierIsAppliedPerDeliveryAndNotCached() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let loaded = try await fixture.pipeline.response(for: request(url, .template.appending(.scale(3))))
        #expect(loaded.image.isTemplate && loaded.image.scale == 3)
        let plain = try await fixture.pipeline.response(for: request(url, nil))
        #expect(plain.origin == .memory)
        #expect(!plain.image.isTemplate && plain.image.scale == 1)
        let mirrored = try await fixture.pipeline.response(for: request(url, .mirroredForRightToLeft))
        #expect(mirrored.origin == .memory)
        #expect(mirrored.image.mirrorsForRightToLeft && !mirrored.image.isTemplate)
        // One image, whichever modifier is applied.
        #expect(mirrored.image.bitmap === loaded.image.bitmap)
        #expect(fixture.decodes.value == 1)
    }

    @Test func synchronousHitIsModified() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        let task = fixture.pipeline.task(for: request(url, .template))
        #expect(task.status == .finished)
        #expect(try await task.response.image.isTemplate)
    }

    @Test func onlyAModifierSaysHowAnImageIsShown() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let template = GeneralProcessor("test.template") { image, _ in
            var image = image
            image.isTemplate = true
            return image
        }
        // Some caches keep only pixels.
        let image = try await fixture.pipeline.image(for: ImageRequest(url, processors: [template]))
        #expect(!image.isTemplate)
    }

    @Test func aModifierMayAskTheTask() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        let url = PipelineFixture.url("a.jpg")
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let half = data.count / 2
        let gate = ScriptedTransportGate()
        fixture.transport.answer(
            url, with: .init(steps: [.chunk(Data(data.prefix(half))), .wait(gate), .chunk(Data(data.dropFirst(half)))]))
        let asked = Lock<(task: ImageTask?, count: Int)>((nil, 0))
        var request = request(
            url,
            ImageModifier { image in
                _ = asked.withLock { $0.task }?.status
                asked.withLock { $0.count += 1 }
                gate.open()
                return image
            })
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        let task = fixture.pipeline.task(for: request)
        asked.withLock { $0.task = task }
        _ = try await task.response
        #expect(asked.withLock { $0.count } >= 2)
        asked.withLock { $0.task = nil }
    }

    @Test func theDefaultIsForRequestsWithoutOne() async throws {
        let fixture = PipelineFixture { $0.defaults.modifier = .template }
        let url = try fixture.serve("png/rgb8.png")
        #expect(try await fixture.pipeline.image(for: url).isTemplate)
        #expect(try await !fixture.pipeline.image(for: request(url, .scale(2))).isTemplate)
    }

    @Test func aProcessorKeepsWhatAnImageSaysOfItself() throws {
        var image = try Image(width: 4, height: 4, pixels: [UInt8](repeating: 255, count: 64))
        (image.isTemplate, image.mirrorsForRightToLeft, image.scale) = (true, true, 2)
        let result = try InvertProcessor().process(image, context: .uncancellable)
        #expect(result.isTemplate && result.mirrorsForRightToLeft && result.scale == 2)
    }

    @Test func previewsAreModified() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        let url = PipelineFixture.url("a.jpg")
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let gate = ScriptedTransportGate()
        let half = data.count / 2
        fixture.transport.answer(
            url,
            with: .init(steps: [.chunk(Data(data.prefix(half))), .wait(gate), .chunk(Data(data.dropFirst(half)))]))
        var request = request(url, .template)
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        var previews = 0
        for try await event in fixture.pipeline.events(for: request) {
            if case .preview(let preview) = event {
                #expect(preview.isTemplate)
                previews += 1
                gate.open()
            }
        }
        #expect(previews > 0)
    }
}
