import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import DecodeBox

/// Pipelines whose files are decoded by workers.
@Suite(.timeLimit(.minutes(5))) struct IsolatedPipelineTests {
    private static func path(_ program: String) throws -> String {
        try Spawn.builtExecutable(program).path(percentEncoded: false)
    }

    private func workers(_ program: String = "halcyon-decode-worker") throws -> DecodeWorkers {
        DecodeWorkers(count: 1, program: .file(try Self.path(program)))
    }

    /// A fixture with the library's own coders, which the workers have as well.
    private func fixture(_ workers: DecodeWorkers) -> PipelineFixture {
        PipelineFixture { configuration in
            configuration.coders = .standard()
            configuration.isolation = .isolated(workers: workers)
        }
    }

    @Test func aLoadIsDecodedByAWorker() async throws {
        let workers = try workers()
        let fixture = fixture(workers)
        let url = try fixture.serve("jpeg/progressive.jpg")
        let image = try await fixture.pipeline.image(for: url)
        let own = try Image(data: TestFiles.data("jpeg/progressive.jpg"))
        #expect(image.bitmap.pixel(x: 5, y: 5)?.red == own.bitmap.pixel(x: 5, y: 5)?.red)
        #expect(workers.statistics.answers >= 2)
        // From memory, without another decode.
        let answers = workers.statistics.answers
        _ = try await fixture.pipeline.image(for: url)
        #expect(workers.statistics.answers == answers)
    }

    @Test func whatTheDiskHasIsDecodedByAWorkerToo() async throws {
        let workers = try workers()
        let fixture = fixture(workers)
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        await fixture.pipeline.configuration.cache.disk?.flush()
        fixture.pipeline.configuration.cache.clearMemory()
        let answers = workers.statistics.answers
        let response = try await fixture.pipeline.response(for: url)
        #expect(response.origin == .disk)
        #expect(workers.statistics.answers > answers)
    }

    @Test func aRequestHasItsOwnPlace() async throws {
        let workers = try workers()
        let fixture = fixture(workers)
        var request = ImageRequest(try fixture.serve("png/rgb8.png"))
        request.decode.isolation = .inProcess
        _ = try await fixture.pipeline.image(for: request)
        #expect(workers.statistics.started == 0)

        let other = PipelineFixture { $0.coders = .standard() }
        var isolated = ImageRequest(try other.serve("png/rgb8.png"))
        isolated.decode.isolation = .isolated(workers: workers)
        _ = try await other.pipeline.image(for: isolated)
        #expect(workers.statistics.started == 1)
    }

    @Test func aPlayerShowsTheFramesOfAWorker() async throws {
        let workers = try workers()
        let fixture = fixture(workers)
        let image = try await fixture.pipeline.image(for: try fixture.serve("gif/animated.gif"))
        let animation = try #require(image.animation)
        let own = try #require(try Image(data: TestFiles.data("gif/animated.gif")).animation)
        for index in 0..<animation.frameCount {
            #expect(
                try animation.frame(at: index).pixel(x: 2, y: 2)?.red == own.frame(at: index).pixel(x: 2, y: 2)?.red)
        }
    }

    @Test func aFileThatStopsItsDecoderIsRememberedAndNotStored() async throws {
        let workers = try workers("DecodeBox")
        let fixture = PipelineFixture { configuration in
            configuration.coders = .standard()
            configuration.isolation = .isolated(workers: workers)
            configuration.coders.add(AttackCoder())
        }
        let url = PipelineFixture.url("attack")
        fixture.transport.answer(url, with: .data(Attack.opens.file))
        for isAgain in [false, true] {
            do {
                _ = try await fixture.pipeline.image(for: url)
                Issue.record("an image")
            } catch let error as ImagePipelineError {
                #expect(error.code == "decoderStopped")
                #expect(error.stage == .decoding)
                if case .remembered = error { #expect(isAgain) } else { #expect(!isAgain) }
            }
        }
        #expect(workers.statistics.faults == 1)
        #expect(await fixture.diskEntries() == 0)
    }

    @Test func otherLoadsGoOnBesideAttacks() async throws {
        let workers = DecodeWorkers(count: 2, program: .file(try Self.path("DecodeBox")))
        let fixture = PipelineFixture { configuration in
            configuration.coders = .standard()
            configuration.isolation = .isolated(workers: workers)
            configuration.coders.add(AttackCoder())
        }
        let files = ["jpeg/progressive.jpg", "png/rgb8.png", "gif/still.gif", "webp/lossless.webp"]
        let attacks: [Attack] = [.segfault, .abort, .exit, .opens, .forks, .connects, .executes]
        let pipeline = fixture.pipeline
        var good: [URL] = []
        var bad: [URL] = []
        let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil
        for index in 0..<(isSoak ? 1000 : 100) {
            let file = files[index % files.count]
            guard FileManager.default.fileExists(atPath: TestFiles.url(file).path(percentEncoded: false)) else {
                continue
            }
            let url = PipelineFixture.url("good-\(index)")
            fixture.transport.answer(url, with: .data(try TestFiles.data(file)))
            good.append(url)
        }
        for (index, attack) in attacks.enumerated() {
            let url = PipelineFixture.url("bad-\(index)")
            fixture.transport.answer(url, with: .data(attack.file))
            bad.append(url)
        }
        let (goodURLs, badURLs) = (good, bad)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for url in goodURLs { group.addTask { (try? await pipeline.image(for: url)) == nil } }
            for url in badURLs {
                group.addTask {
                    do {
                        _ = try await pipeline.image(for: url)
                        return true
                    } catch {
                        return (error as? ImagePipelineError)?.code != "decoderStopped"
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 0)
        #expect(goodURLs.count > 40)
    }

    @Test func isolationThatCannotBeHadFailsTheLoad() async throws {
        let workers = DecodeWorkers(count: 1, program: .file("/nowhere/worker"))
        let fixture = fixture(workers)
        let url = try fixture.serve("png/rgb8.png")
        await #expect {
            try await fixture.pipeline.image(for: url)
        } throws: { ($0 as? ImagePipelineError)?.code == "isolationUnavailable" }
    }
}
