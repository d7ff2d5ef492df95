import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

/// The start, the replacement and the end of workers.
@Suite(.timeLimit(.minutes(10))) struct WorkerLifeTests {
    private func decode(_ workers: DecodeWorkers, _ file: String = "png/rgb8.png") throws -> Image {
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        return try CoderRegistry.standard().decode(TestFiles.data(file), options: options)
    }

    private func refusal(of workers: DecodeWorkers) -> String? {
        do {
            _ = try decode(workers)
        } catch CodecError.isolationUnavailable(let reason) {
            return reason
        } catch {
            Issue.record(error)
        }
        return nil
    }

    @Test func aWorkerServesManyImages() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        for _ in 0..<20 { _ = try decode(workers) }
        #expect(workers.statistics.started == 1)
        #expect(workers.statistics.answers >= 20)
        #expect(workers.statistics.time > .zero)
    }

    @Test func aWorkerIsReplacedAfterItsImages() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path), imagesPerWorker: 4)
        for _ in 0..<6 { _ = try decode(workers) }
        #expect(workers.statistics.started == 2)
        #expect(workers.statistics.faults == 0)
    }

    @Test func anImageMayHaveAWorkerOfItsOwn() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path), imagesPerWorker: 1)
        for file in ["png/rgb8.png", "jpeg/progressive.jpg", "gif/animated.gif"] { _ = try decode(workers, file) }
        #expect(workers.statistics.started == 3)
    }

    @Test func aStartCanBeCancelled() throws {
        let folder = TemporaryFolder()
        let program = folder.url.appending(path: "sleeps")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Spawn.writeScript("#!/bin/sh\nexec sleep 60\n", to: program)
        let workers = DecodeWorkers(count: 1, program: .file(program.path(percentEncoded: false)))
        #expect(throws: CancellationError.self) { try workers.prepare(context: WorkContext { true }) }
        #expect(workers.statistics.workers == 0)
    }

    @Test func aPreparedWorkerIsThere() throws {
        let workers = DecodeWorkers(count: 2, program: .file(Worker.path))
        try workers.prepare()
        try workers.prepare()
        #expect(workers.statistics.workers == 1)
        _ = try decode(workers)
        #expect(workers.statistics.started == 1)
    }

    @Test func drawingsHaveWorkersOfTheirOwn() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        _ = try decode(workers, "svg/view-box.svg")
        _ = try decode(workers)
        #expect(workers.statistics.workers == 1)
        #expect(workers.statistics.started >= 2)
    }

    @Test func noMoreWorkersThanPlaces() async throws {
        let workers = DecodeWorkers(count: 2, program: .file(Worker.path))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { try await ThreadPools.cpu.run { _ in _ = try decode(workers) } }
            }
            try await group.waitForAll()
        }
        #expect(workers.statistics.workers <= 2)
        #expect(workers.statistics.started <= 2)
    }

    @Test func aMissingProgramIsAnError() throws {
        let reason = try #require(refusal(of: DecodeWorkers(count: 1, program: .file("/nowhere/worker"))))
        #expect(reason.contains("/nowhere/worker"))
        #expect(reason.contains("No such file"))
    }

    @Test(arguments: ["/bin/true", "/bin/false"])
    func anotherProgramIsAnError(_ path: String) throws {
        let reason = try #require(refusal(of: DecodeWorkers(count: 1, program: .file(path))))
        #expect(reason.contains("ended with the status"))
    }

    @Test func aProgramThatNeverAskedIsNoWorker() throws {
        let reason = try #require(refusal(of: DecodeWorkers(count: 1, program: .itself)))
        #expect(reason.contains("runIfAsked"))
    }

    @Test func drawingsNeedLandlock() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path), usesLandlock: false)
        _ = try decode(workers)
        #expect {
            try decode(workers, "svg/view-box.svg")
        } throws: { error in
            guard case CodecError.isolationUnavailable(let reason) = error else { return false }
            return reason.contains("Landlock")
        }
    }

    /// In a program of its own, whose descriptors and children nobody else changes.
    @Test func workersThatAreKilledAtRandomChangeNoImage() async throws {
        let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil
        let files = ["jpeg/progressive.jpg", "png/rgb8.png", "gif/animated.gif", "webp/animated.webp"]
        let program = try TestProgram(
            URL(filePath: Worker.attacking),
            ["storm", Worker.path, isSoak ? "1000" : "60"]
                + files.map { TestFiles.url($0).path(percentEncoded: false) },
            hasOutput: true)
        let output = try program.output?.readToEnd()
        #expect(await program.ended() == 0, "\(String(decoding: output ?? Data(), as: UTF8.self))")
    }
}
