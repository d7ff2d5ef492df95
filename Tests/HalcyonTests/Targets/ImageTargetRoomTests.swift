import Foundation
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// A target whose surface has a size of its own.
@MainActor @Suite(.timeLimit(.minutes(5))) struct ImageTargetRoomTests: TargetSuite {
    private let resolved: Counter
    let fixture: PipelineFixture
    let ends = TargetEnds()

    init() {
        let resolved = Counter()
        self.resolved = resolved
        fixture = PipelineFixture {
            $0.providers.append { _ in
                resolved.increment()
                return nil
            }
        }
    }

    private func side(_ target: ImageTarget) -> Int? { target.content.image.map { max($0.width, $0.height) } }

    /// A file is looked at, and a key made, once for each call, whatever becomes of the room.
    @Test func aRequestIsResolvedOnce() async throws {
        let file = TestFiles.url("png/rgb8.png")
        let screen = SizedScreen()
        let target = ImageTarget(surface: screen)
        target.setImage(ImageRequest(file), pipeline: fixture.pipeline, completion: ends.callback("1"))
        #expect(resolved.value == 1 && target.isLoading && ends.all.isEmpty)
        // Still no room.
        target.roomChanged()
        screen.resize(to: 4)
        target.roomChanged()
        await ends.wait(for: 1)
        #expect(resolved.value == 1 && side(target) == 4)
        screen.resize(to: 8)
        target.renew()
        while target.isLoading { await Task.yield() }
        #expect(resolved.value == 1 && side(target) == 8)
        target.setImage(ImageRequest(file), pipeline: fixture.pipeline, completion: ends.callback("2"))
        #expect(resolved.value == 2 && ends.all == ["1 shown", "2 shown"])
    }

    /// A view that has collapsed to nothing keeps its image through any number of reloads, and through their failure.
    @Test func reloadsWithoutARoomKeepTheImage() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let screen = SizedScreen()
        let target = ImageTarget(surface: screen)
        screen.resize(to: 4)
        target.setImage(ImageRequest(url), pipeline: fixture.pipeline, completion: ends.callback("1"))
        await ends.wait(for: 1)
        screen.resize(to: nil)
        fixture.pipeline.cache.clearMemory()
        fixture.transport.answer(url, with: .status(404))
        target.reload(completion: ends.callback("2"))
        target.reload(completion: ends.callback("3"))
        #expect(side(target) == 4 && ends.all == ["1 shown", "2 superseded"])
        screen.resize(to: 4)
        target.roomChanged()
        await ends.wait(for: 3)
        #expect(side(target) == 4)
    }

    /// The stand-in comes from memory alone, also for a request that may read the disk on the caller's thread.
    @Test func nothingIsDecodedBeforeThereIsARoom() async throws {
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url)
        request.cachePolicy.waitsForStore = true
        _ = try await fixture.pipeline.image(for: request)
        fixture.pipeline.cache.clearMemory()
        request.cachePolicy.readsDiskSynchronously = true
        let screen = SizedScreen()
        let target = ImageTarget(surface: screen)
        target.setImage(request, pipeline: fixture.pipeline, completion: ends.callback("1"))
        #expect(target.content.image == nil)
        screen.resize(to: 4)
        target.roomChanged()
        #expect(side(target) == 4 && ends.all == ["1 shown"])
    }

    /// A request that sets the size of its image.
    @Test func aSizeOfItsOwnNeedsNoRoom() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: SizedScreen())
        target.setImage(
            ImageRequest(url, processors: [.resize(to: PixelSize(6, 6))]), pipeline: fixture.pipeline,
            completion: ends.callback("1"))
        await ends.wait(for: 1)
        #expect(side(target) == 6 && ends.all == ["1 shown"])
    }

    /// The modifier of a pipeline is given the size of the room, and may take another one.
    @Test func aModifierSeesTheSize() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let modifying = PipelineFixture(transport: fixture.transport) {
            $0.requestModifier = { request in
                var request = request
                if let size = request.decode.target?.size {
                    request.decode.target = TargetSize(PixelSize(size.width / 2, 4))
                }
                return request
            }
        }
        let screen = SizedScreen(8)
        let target = ImageTarget(surface: screen)
        for (number, side) in [8, 16].enumerated() {
            screen.resize(to: side)
            target.setImage(ImageRequest(url), pipeline: modifying.pipeline, completion: ends.callback("\(number)"))
            await ends.wait(for: number + 1)
            #expect(target.content.image?.width == min(side / 2, 6))
        }
    }

    @Test func invisibleTargetLoadsWithLowPriority() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let target = ImageTarget(surface: SizedScreen(8))
        target.isVisible = false
        set(target, url)
        #expect(target.loadPriority == .low)
        target.priority = .high
        #expect(target.loadPriority == .low)
        target.isVisible = true
        #expect(target.loadPriority == .high)
        target.priority = nil
        #expect(target.loadPriority == .normal)
    }

    /// One that waits for a room asks the server once it has one.
    @Test func reloadOfWaitingTargetAsksServer() async throws {
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: ImageRequest(url))
        let screen = SizedScreen()
        let target = ImageTarget(surface: screen)
        set(target, url)
        #expect(target.hasStandIn)
        target.reload(completion: ends.callback("2"))
        #expect(ends.all == ["1 superseded"] && target.hasStandIn)
        screen.resize(to: 4)
        target.roomChanged()
        #expect(!target.hasStandIn && target.content.image != nil)
        await ends.wait(for: 2)
        guard case .image(let response) = target.content else { return #expect(Bool(false), "\(target.content)") }
        #expect(response.origin == .network && side(target) == 4 && ends.all.last == "2 shown")
    }

    /// A file that is another one by now is not taken for what is shown.
    @Test func aFileThatHasChanged() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appending(path: "a.png")
        let target = ImageTarget(surface: SizedScreen(64))
        for (number, width) in [3, 5].enumerated() {
            try image(width).data(as: .png).write(to: file)
            target.setImage(ImageRequest(file), pipeline: fixture.pipeline, completion: ends.callback("\(number)"))
            await ends.wait(for: number + 1)
            #expect(side(target) == width)
        }
    }

    /// A drawing is sharp at any size, a photo only at its own.
    @Test func aDrawingFillsItsRoom() async throws {
        let screen = SizedScreen(96)
        let target = ImageTarget(surface: screen)
        target.setImage(
            ImageRequest(try fixture.serve("svg/sized.svg")), pipeline: fixture.pipeline, completion: ends.callback("1")
        )
        await ends.wait(for: 1)
        #expect(side(target) == 96)
        target.setImage(
            ImageRequest(try fixture.serve("png/rgb8.png")), pipeline: fixture.pipeline, completion: ends.callback("2"))
        await ends.wait(for: 2)
        #expect(side(target) == 48 && ends.all == ["1 shown", "2 shown"])
    }

    /// A view may be a quarter larger than its image.
    @Test(arguments: [(8, false), (9, false), (10, false), (11, true), (4, false)])
    func aQuarterIsNotOutgrown(side: Int, isOutgrown: Bool) {
        func room(_ side: Int) -> ViewRoom { ViewRoom(pixels: PixelSize(side, side), fit: .contain, scaleFactor: 1) }
        #expect(room(8).isOutgrown(by: room(side)) == isOutgrown)
    }
}
