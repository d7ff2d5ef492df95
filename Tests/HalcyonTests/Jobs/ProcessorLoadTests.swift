import Foundation
import Halcyon
import HalcyonProcessing
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Processors through the whole pipeline.
@Suite(.timeLimit(.minutes(5))) struct ProcessorLoadTests {
    @Test func aChainWrittenTwoWaysIsOneImage() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let runs = Counter()
        let (count, invert, blur) = (CountingProcessor("a", runs: runs), InvertProcessor(), BlurProcessor(radius: 2))
        let spellings: [[any ImageProcessor]] = [
            [count, invert, blur], [count.appending(invert).appending(blur)], [count |> invert |> blur],
            [count, invert |> blur],
            [ChainProcessor([count, ChainProcessor([invert, blur])])], [count |> ChainProcessor([]) |> invert, blur],
        ]
        for (index, processors) in spellings.enumerated() {
            let response = try await fixture.pipeline.response(for: ImageRequest(url, processors: processors))
            #expect(response.origin == (index == 0 ? .network : .memory))
        }
        #expect(runs.value == 1)
    }

    @Test func aChainIsPartOfTheDecodeAsItsFirstStepIs() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        let chain = ResizeProcessor(PixelSize(16, 16), mode: .stretch) |> InvertProcessor()
        let image = try await fixture.pipeline.image(for: ImageRequest(url, processors: [chain]))
        #expect(image.size == PixelSize(16, 16))
        let plain: [any ImageProcessor] = [.resize(to: PixelSize(16, 16), mode: .stretch), .invert]
        #expect(try await fixture.pipeline.response(for: ImageRequest(url, processors: plain)).origin == .memory)
    }

    /// Two lights are two images, in memory, on disk and in a decode that others could share; the last box has its processor
    /// behind another one, so that it is no part of the decode.
    @Test(arguments: ["jpeg/baseline-420.jpg", "png/rgb8.png", "webp/lossless.webp"])
    func theLightOfAResizeTellsImagesApart(file: String) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve(file)
        let whole = try await fixture.pipeline.image(for: url)
        for first in [[], [FlipProcessor(.horizontal)]] as [[any ImageProcessor]] {
            let lists = ResizeLight.allCases.map { first + [.resize(to: PixelSize(9, 9), light: $0)] }
            var images: [Image] = []
            for processors in lists {
                let request = ImageRequest(url, processors: processors)
                let response = try await fixture.pipeline.response(for: request)
                #expect(response.origin != .memory || !first.isEmpty)
                images.append(response.image)
                #expect(try await fixture.pipeline.response(for: request).origin == .memory)
            }
            let expected = try lists.map { try $0.process(whole, context: .uncancellable) }
            for (image, expected) in zip(images, expected).dropFirst() {
                #expect(image.withPixels { Array($0) } == expected.withPixels { Array($0) })
            }
            #expect(images[0].withPixels { Array($0) } != images[1].withPixels { Array($0) })
            let keys = lists.map { ImageKey(source: "a", processors: $0) }
            #expect(keys[0] != keys[1])
            #expect(keys[0].processedEntryKey != keys[1].processedEntryKey)
        }
        let targets = ResizeLight.allCases.map { TargetSize(PixelSize(9, 9), light: $0) }
        let keys = targets.map { ImageKey(source: "a", decode: DecodeOptions(target: $0)) }
        #expect(keys[0] != keys[1])
        #expect(keys[0].processedEntryKey != keys[1].processedEntryKey)
    }

    @Test func aRunThatAnotherLoadHasBegunIsNotBegunAnew() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let crop = CropProcessor.crop(to: PixelSize(20, 10))
        let lists: [[any ImageProcessor]] = [
            [crop], [crop, .flip(.horizontal)], [crop, .flip(.horizontal), .rotate(degrees: 90)],
        ]
        let tasks = lists.map { fixture.pipeline.task(for: ImageRequest(url, processors: $0)) }
        try await fixture.transport.waitForRequests(1)
        while await !fixture.pipeline.isWaitingForBytes(3) { await Task.yield() }
        gate.open()
        var images: [Image] = []
        for task in tasks { images.append(try await task.response.image) }
        #expect(images.map(\.size) == [PixelSize(20, 10), PixelSize(20, 10), PixelSize(10, 20)])
        let expected = try FlipProcessor(.horizontal).process(images[0], context: .uncancellable)
        #expect(images[1].withPixels { Array($0) } == expected.withPixels { Array($0) })
        #expect(fixture.decodes.value == 1)
    }

    /// One that gives a new image and counts how often.
    private static func copying(_ runs: Counter) -> GeneralProcessor {
        GeneralProcessor("test.copying") { image, _ in
            runs.increment()
            return image.replacing(image.bitmap)
        }
    }

    @Test(arguments: ["animation/mixed.gif", "animation/mixed-both.webp"])
    func anAnimationIsProcessedFrameByFrame(file: String) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve(file)
        let plain = try #require(try await fixture.pipeline.image(for: url).animation)
        let runs = Counter()
        let counting = Self.copying(runs)
        let request = ImageRequest(url, processors: [counting, .resize(to: PixelSize(13, 9)), .invert])
        let image = try await fixture.pipeline.image(for: request)
        let animation = try #require(image.animation)
        #expect(animation.durations == plain.durations)
        #expect(animation.loopCount == plain.loopCount)
        #expect(animation.size == image.size)
        // The other frames when they are requested.
        #expect(runs.value == 1)
        let frame = try animation.frame(at: 5)
        #expect(runs.value == 2)
        let processors: [any ImageProcessor] = [.resize(to: PixelSize(13, 9)), .invert]
        var expected = Image(bitmap: try plain.frame(at: 5), info: image.info)
        for processor in processors { expected = try processor.process(expected, context: .uncancellable) }
        #expect(frame.withPixels { Array($0) } == expected.withPixels { Array($0) })
    }

    @Test func aProcessedAnimationIsStoredAsOne() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("animation/mixed.gif")
        // Soft all over, which no GIF is.
        var request = ImageRequest(url, processors: [.invert, .opacity(0.4)])
        request.cachePolicy = .storeProcessed
        let made = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.origin == .disk)
        let (animation, expected) = (try #require(read.image.animation), try #require(made.animation))
        #expect(animation.durations == expected.durations)
        for index in [0, 5] {
            let (one, other) = (try animation.frame(at: index), try expected.frame(at: index))
            // Stored as straight colours.
            let worst = one.withPixels { one in other.withPixels { zip(one, $0).map { abs(Int($0) - Int($1)) }.max() } }
            #expect(worst ?? 255 <= 1)
        }
    }

    @Test func allFramesWantedBeforehandAreProcessedBeforehand() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("animation/mixed.gif")
        let runs = Counter()
        var request = ImageRequest(url, processors: [Self.copying(runs)])
        request.decode.preloadAllFrames = true
        let image = try await fixture.pipeline.image(for: request)
        let before = runs.value
        #expect(before >= 9)
        _ = try image.animation?.frame(at: 5)
        #expect(runs.value == before)
    }

    @Test func aDrawingIsDrawnAtTheSizeThatIsAskedFor() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect x="0" y="0" width="1" height="8"/></svg>
            """
        let url = PipelineFixture.url("a.svg")
        fixture.transport.answer(url, with: .data(Data(text.utf8)))
        let request = ImageRequest(
            url, processors: [.resize(to: PixelSize(800, 800), upscale: true), .roundCorners(radius: 0)])
        let image = try await fixture.pipeline.image(for: request)
        #expect(image.size == PixelSize(800, 800))
        // An enlarged raster would be soft here.
        #expect(image.color(x: 99, y: 400)?.alpha == 1)
        #expect(image.color(x: 101, y: 400)?.alpha == 0)
    }

    @Test func failedProcessingIsNotStored() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url, processors: [.invert, FailingProcessor()])
        request.cachePolicy = .storeProcessed
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
        #expect(await fixture.pipeline.cache.cachedLevel(for: request) != .memory)
        // The source's own bytes are not a failure.
        #expect(await fixture.diskEntries() == 1)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func badArgumentsAreRefusedBeforeAnythingIsFetched() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let bad: [any ImageProcessor] = [
            .blur(radius: -1), .blur(radius: .nan), .rotate(degrees: .infinity), .pixelate(side: 0),
            .crop(to: PixelSize(0, 4)), .resize(to: PixelSize(0, 0)), .pad(-1), .opacity(2), .sepia(intensity: .nan),
            .roundCorners(radius: -1), .border(width: .nan), InvertProcessor() |> BlurProcessor(radius: -1),
        ]
        for processor in bad {
            await #expect(throws: ImagePipelineError.self, "\(processor)") {
                try await fixture.pipeline.image(for: ImageRequest(url, processors: [processor]))
            }
        }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func processorsRunOnTheirOwnThreads() async throws {
        let threads = Lock<[String]>([])
        let noting: any ImageProcessor = .general("org.example.thread") { image, _ in
            let name = try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            threads.withLock { $0.append(name) }
            return image
        }
        let fixture = PipelineFixture()
        _ = try await fixture.pipeline.image(for: ImageRequest(try fixture.serve("png/rgb8.png"), processors: [noting]))
        #expect(threads.withLock { $0.count } == 1)
        #expect(threads.withLock { $0.allSatisfy { $0.hasPrefix("halcyon-cpu") } })
    }
}
