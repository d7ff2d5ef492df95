import Foundation
import Halcyon
import Testing

@testable import HalcyonServer

/// The program itself, with its workers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProgramTests {
    private static func get(_ path: String, port: Int) throws -> HTTPAnswer {
        let connection = try LoopbackConnection(port: port)
        try connection.send(LoopbackConnection.head(path))
        return try connection.answer()
    }

    private struct Outcome {
        var health: HTTPAnswer
        var picture: HTTPAnswer
        var broken: HTTPAnswer
        var metrics: HTTPAnswer
        var workers: Int
        var reason: Process.TerminationReason
        var status: Int32
    }

    @Test func decodesInWorkersAndEndsByItsSignal() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-program-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let gallery = ServerFixture.root.appending(path: "demo/gallery").path(percentEncoded: false)
        let outcome = try await blocking {
            let program = try ServerProgram([
                "HALCYON_CACHE_FOLDER": folder.path(percentEncoded: false), "HALCYON_SOURCE_FOLDER": gallery,
            ])
            let (pictures, reports) = try program.ports()
            var outcome = Outcome(
                health: try Self.get("/health", port: pictures),
                picture: try Self.get("/fill-64x64,webp/local:///kingfisher.jpg", port: pictures),
                broken: try Self.get("/fit-64x64/local:///broken.jpg", port: pictures),
                metrics: try Self.get("/metrics", port: reports),
                workers: ServerProgram.children(of: program.id).count, reason: .uncaughtSignal, status: -1)
            program.terminate()
            (outcome.reason, outcome.status) = program.end()
            return outcome
        }
        #expect(outcome.health.status == 200)
        #expect(outcome.picture.status == 200)
        #expect(try outcome.picture.image().size == PixelSize(64, 64))
        #expect(outcome.broken.status == 422)
        #expect(outcome.metrics.status == 200)
        #expect(outcome.workers > 0)
        #expect(outcome.reason == .exit && outcome.status == 0)
    }

    /// A test that fails ends its program also where that is the child of another one.
    @Test func noProgramOutlivesItsTest() async throws {
        let port = try await blocking {
            let program = try ServerProgram(
                ["HALCYON_CACHE_FOLDER": ""], command: ["/bin/bash", "-c", "\"$0\" & wait"])
            let port = try program.ports().pictures
            #expect(try Self.get("/health", port: port).status == 200)
            program.kill()
            return port
        }
        // Its sockets are closed a moment after the last sign of it.
        while (try? LoopbackConnection(port: port)) != nil { try Task.checkCancellation() }
    }

    @Test func aBadSettingEndsItAtOnce() async throws {
        let status = try await blocking {
            try ServerProgram(["HALCYON_HTTP_PORT": "many"]).end().status
        }
        #expect(status == 1)
    }
}
