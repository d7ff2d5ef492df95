import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Images whose bytes a program's own code brings.
@Suite(.timeLimit(.minutes(5))) struct ProviderTests {
    private struct Failure: Error, CustomStringConvertible {
        let description = "the shelf is empty"
    }

    /// A provider that waits at a gate, counts its calls, and returns the bytes it was made with.
    private struct Provider: ImageDataProvider {
        var cacheKey = "shelf/7"
        var contentURL: URL?
        var calls = Counter()
        var cancellations = Counter()
        var gate: ScriptedTransportGate?
        var result: Result<Data, any Error>

        func data() async throws -> Data {
            calls.increment()
            do {
                try await gate?.wait()
            } catch {
                cancellations.increment()
                throw Failure()
            }
            return try result.get()
        }
    }

    /// A provider that ignores cancellation: it ends when its gate is opened.
    private struct DeafProvider: ImageDataProvider {
        let cacheKey = "deaf"
        let calls = Counter()
        let gate = ScriptedTransportGate()

        func data() async throws -> Data {
            calls.increment()
            let gate = gate
            try await Task { try await gate.wait() }.value
            return Data()
        }
    }

    private func png() throws -> Data { try TestFiles.data("png/rgb8.png") }

    private func wait(for counter: Counter, _ count: Int = 1) async {
        while counter.value < count { await Task.yield() }
    }

    @Test func anImageComesOfAProviderAndThenOfMemory() async throws {
        let fixture = PipelineFixture()
        let provider = Provider(result: .success(try png()))
        let request = ImageRequest(.provider(provider), processors: [.resize(to: PixelSize(6, 4), mode: .stretch)])
        let first = try await fixture.pipeline.response(for: request)
        #expect(first.origin == .provider)
        #expect(first.image.size == PixelSize(6, 4))
        #expect(try await first.data() == png())
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        #expect(provider.calls.value == 1)
        #expect(await fixture.diskEntries() == 1)
        #expect(fixture.transport.requestCount == 0)
    }

    /// One that blocks its thread would hold up all loads there.
    @Test func providerIsNotCalledOnJobThread() async throws {
        struct Named: ImageDataProvider {
            let cacheKey = "named"
            let threads: Lock<[String]>

            func data() async throws -> Data {
                let name = try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                threads.withLock { $0.append(name) }
                return try TestFiles.data("png/rgb8.png")
            }
        }
        let (fixture, threads) = (PipelineFixture(), Lock<[String]>([]))
        _ = try await fixture.pipeline.image(for: ImageRequest(.provider(Named(threads: threads))))
        #expect(threads.withLock { $0.count } == 1)
        #expect(threads.withLock { $0.allSatisfy { !$0.hasPrefix("halcyon-jobs") } })
    }

    @Test func loadsOfOneKeyShareOneCall() async throws {
        let fixture = PipelineFixture()
        let provider = Provider(gate: ScriptedTransportGate(), result: .success(try png()))
        var same = provider
        same.calls = Counter()
        let tasks = (1...30).map { side in
            fixture.pipeline.task(
                for: ImageRequest(
                    .provider(side % 2 == 0 ? same : provider),
                    processors: [.resize(to: PixelSize(side, side), mode: .stretch)]))
        }
        while await !fixture.pipeline.isWaitingForBytes(30) { await Task.yield() }
        // Any of them may be the first.
        while provider.calls.value + same.calls.value == 0 { await Task.yield() }
        provider.gate?.open()
        for (index, task) in tasks.enumerated() {
            #expect(try await task.response.image.size == PixelSize(index + 1, index + 1))
        }
        #expect(provider.calls.value + same.calls.value == 1)
    }

    @Test func otherKeysAreOtherImages() async throws {
        let fixture = PipelineFixture()
        let first = Provider(cacheKey: "a", result: .success(try png()))
        let second = Provider(cacheKey: "b", result: .success(try TestFiles.data("jpeg/gray.jpg")))
        #expect(try await fixture.pipeline.image(for: ImageRequest(.provider(first))).info.format == .png)
        #expect(try await fixture.pipeline.image(for: ImageRequest(.provider(second))).info.format == .jpeg)
    }

    @Test func anErrorIsABadSourceWithItsReasonAndIsNotKept() async throws {
        let fixture = PipelineFixture()
        let failing = Provider(cacheKey: "https://host/a?token=secret", result: .failure(Failure()))
        await #expect {
            try await fixture.pipeline.image(for: ImageRequest(.provider(failing)))
        } throws: { error in
            guard case .badSource(let source, let reason, let own)? = error as? ImagePipelineError else { return false }
            return source == "https://host/a" && reason == "the shelf is empty" && own is Failure
        }
        var mended = failing
        mended.result = .success(try png())
        #expect(try await fixture.pipeline.response(for: ImageRequest(.provider(mended))).origin == .provider)
    }

    @Test func lastCancelledLoadCancelsProvider() async throws {
        let fixture = PipelineFixture()
        let provider = Provider(gate: ScriptedTransportGate(), result: .success(try png()))
        let tasks = (0..<2).map { _ in fixture.pipeline.task(for: ImageRequest(.provider(provider))) }
        while await !fixture.pipeline.isWaitingForBytes(2) { await Task.yield() }
        await wait(for: provider.calls)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].response }
        #expect(provider.cancellations.value == 0)
        tasks[1].cancel()
        // Though the provider answers its cancellation with an error of its own.
        await #expect(throws: CancellationError.self) { try await tasks[1].response }
        await wait(for: provider.cancellations)
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
    }

    @Test func aLoadEndsAtOnceThoughItsProviderHeedsNoCancellation() async throws {
        let fixture = PipelineFixture()
        let provider = DeafProvider()
        let work = Task { try await fixture.pipeline.image(for: ImageRequest(.provider(provider))) }
        await wait(for: provider.calls)
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        provider.gate.open()
    }

    @Test func aProviderThatCallsItselfOffEndsTheLoadAsCancelled() async throws {
        let fixture = PipelineFixture()
        let provider = Provider(result: .failure(CancellationError()))
        await #expect(throws: CancellationError.self) {
            try await fixture.pipeline.image(for: ImageRequest(.provider(provider)))
        }
    }

    @Test func tooManyBytesNoBytesAndNoImageAreErrors() async throws {
        let fixture = PipelineFixture()
        var request = ImageRequest(.provider(Provider(result: .success(try png()))))
        request.network.maximumBytes = 10
        await #expect { try await fixture.pipeline.image(for: request) } throws: { error in
            (error as? ImagePipelineError)?.code == "badSource"
        }
        for bytes in [Data(), Data("no image".utf8)] {
            let provider = Provider(cacheKey: "\(bytes.count)", result: .success(bytes))
            await #expect { try await fixture.pipeline.image(for: ImageRequest(.provider(provider))) } throws: {
                error in
                (error as? ImagePipelineError)?.code == "notAnImage"
            }
        }
    }

    @Test func aLoadOfCachesOnlyDoesNotAskAProvider() async throws {
        let fixture = PipelineFixture()
        let provider = Provider(result: .success(try png()))
        await #expect {
            try await fixture.pipeline.image(for: ImageRequest(.provider(provider), cachePolicy: .onlyIfCached))
        } throws: { error in
            (error as? ImagePipelineError)?.code == "notInCache"
        }
        #expect(provider.calls.value == 0)
    }

    @Test func progressIsToldOnceAndTheNameSaysTheScale() async throws {
        let fixture = PipelineFixture()
        let data = try png()
        let provider = Provider(contentURL: URL(filePath: "/covers/7@2x.png"), result: .success(data))
        var progress: [LoadProgress] = []
        for try await event in fixture.pipeline.events(for: ImageRequest(.provider(provider))) {
            switch event {
            case .progress(let step): progress.append(step)
            case .preview: Issue.record("there are no previews of a provider")
            case .finished(let response): #expect(response.image.scale == 2)
            }
        }
        #expect(progress == [LoadProgress(received: data.count, expected: data.count)])
    }

    @Test func base64IsReadAlsoWithoutPaddingAndWithSpaces() async throws {
        let fixture = PipelineFixture()
        // A byte behind the image, so that there is padding to leave out.
        let text = (try png() + [0]).base64EncodedString()
        #expect(text.hasSuffix("="))
        let texts = [text, text.replacing("=", with: ""), text.prefix(40) + "\r\n " + text.dropFirst(40)]
        for (index, text) in texts.enumerated() {
            let source = ImageSource.base64(String(text), key: "\(index)")
            let response = try await fixture.pipeline.response(for: ImageRequest(source))
            #expect(response.image.size == PixelSize(48, 32))
            #expect(response.origin == .provider)
        }
        for broken in ["!!!!", "abcd*", "ä"] {
            await #expect { try await fixture.pipeline.image(for: ImageRequest(.base64(broken))) } throws: { error in
                (error as? ImagePipelineError)?.code == "badSource"
            }
        }
    }

    @Test func sourcesOfProvidersAreEqualByKeyAndURL() {
        let first = Provider(result: .success(Data()))
        var other = first
        other.result = .failure(Failure())
        #expect(ImageSource.provider(first) == .provider(other))
        #expect(Set([ImageSource.provider(first), .provider(other)]).count == 1)
        other.contentURL = URL(filePath: "/x")
        #expect(ImageSource.provider(first) != .provider(other))
        other = first
        other.cacheKey = "shelf/8"
        #expect(ImageSource.provider(first) != .provider(other))
        #expect(ImageSource.base64("abcd") == .base64("abcd"))
        #expect(ImageSource.base64("abcd") != .base64("abce"))
        #expect(ImageSource.base64("abcd", key: "k") != .data(Data(), key: "k"))
    }
}
