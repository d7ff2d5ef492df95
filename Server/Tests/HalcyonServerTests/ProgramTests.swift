import Foundation
import Halcyon
import Testing

@testable import HalcyonServer

/// The program itself, with its workers.
@Suite(.serialized) struct ProgramTests {
    /// The folder of the tests' program, in which the server's is too.
    private static var program: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "halcyon-server")
    }

    private static func start(_ environment: [String: String]) throws -> (Process, Pipe) {
        let process = Process()
        process.executableURL = program
        process.environment = ProcessInfo.processInfo.environment
            .merging(["HALCYON_HTTP_PORT": "0", "HALCYON_METRICS_PORT": "0"]) { $1 }.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return (process, output)
    }

    /// Reads the ports that the program tells.
    private static func ports(_ output: Pipe) throws -> (pictures: Int, reports: Int) {
        var text = ""
        while text.count(where: { $0 == "\n" }) < 2 {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw LoopbackConnection.Failure(description: "the program ended: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        func port(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
        return (port("pictures"), port("reports"))
    }

    private static func get(_ path: String, port: Int) throws -> HTTPAnswer {
        let connection = try LoopbackConnection(port: port)
        try connection.send(LoopbackConnection.head(path))
        return try connection.answer()
    }

    /// The processes that all threads of a process have started.
    private static func children(of process: Int32) throws -> [Substring] {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).flatMap { task in
            let list = (try? String(contentsOfFile: "\(tasks)/\(task)/children", encoding: .utf8)) ?? ""
            return list.split(separator: " ")
        }
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
            let (process, output) = try Self.start([
                "HALCYON_CACHE_FOLDER": folder.path(percentEncoded: false), "HALCYON_SOURCE_FOLDER": gallery,
            ])
            defer { process.terminate() }
            let (pictures, reports) = try Self.ports(output)
            var outcome = Outcome(
                health: try Self.get("/health", port: pictures),
                picture: try Self.get("/fill-64x64,webp/local:///kingfisher.jpg", port: pictures),
                broken: try Self.get("/fit-64x64/local:///broken.jpg", port: pictures),
                metrics: try Self.get("/metrics", port: reports),
                workers: try Self.children(of: process.processIdentifier).count, reason: .uncaughtSignal, status: -1)
            process.terminate()
            process.waitUntilExit()
            (outcome.reason, outcome.status) = (process.terminationReason, process.terminationStatus)
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

    @Test func aBadSettingEndsItAtOnce() async throws {
        let status = try await blocking {
            let (process, _) = try Self.start(["HALCYON_HTTP_PORT": "many"])
            process.waitUntilExit()
            return process.terminationStatus
        }
        #expect(status == 1)
    }
}
