import Foundation
import TestSupport
import Testing

/// The built `halcyon` in a folder of its own: its cache, its temporary files and what it writes.
final class Tool: Sendable {
    let folder: URL

    init() throws {
        folder = PipelineFixture.temporaryFolder()
        for name in ["tmp", "streams"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String {
        folder.appending(path: name).path(percentEncoded: false)
    }

    func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appending(path: name))
    }

    func files(in name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
    }

    /// Runs the tool with exactly these arguments.
    func run(
        _ arguments: [String], input: String = "", environment extra: [String: String] = [:]
    ) async throws -> ToolResult {
        let streams = folder.appending(path: "streams/\(UUID().uuidString)")
        let (inputFile, output, errors) = (
            streams.appendingPathExtension("in"), streams.appendingPathExtension("out"),
            streams.appendingPathExtension("err")
        )
        try Data(input.utf8).write(to: inputFile)
        let child = ChildProcess(
            executable: try Spawn.builtExecutable("halcyon"), arguments: arguments,
            environment: environment.merging(extra) { $1 })
        let status = try await child.run(input: inputFile, output: output, errors: errors)
        return ToolResult(
            status: status, output: try Data(contentsOf: output),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }

    /// `halcyon load --json` with the folder's own cache.
    func load(_ arguments: String..., input: String = "") async throws -> ToolResult {
        try await run(["load", "--json", "--cache", path("cache")] + arguments, input: input)
    }

    /// `halcyon cache` with the folder's own cache.
    func cache(_ arguments: String...) async throws -> ToolResult {
        try await run(["cache"] + arguments + ["--cache", path("cache")])
    }

    /// Nothing of the machine's proxies or locale; caches and temporary files stay in the folder.
    var environment: [String: String] {
        var environment = [
            "LANG": "C.UTF-8", "XDG_CACHE_HOME": path("xdg"), "TMPDIR": path("tmp"), "HOME": path("home"),
            // A crash ends at once, as one.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        for name in ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        return environment
    }
}

/// A source that names a file of `Tests/Fixtures`.
func fixture(_ name: String) -> String {
    TestFiles.url(name).path(percentEncoded: false)
}

/// A server whose routes are files of `Tests/Fixtures`, their paths as they are there.
func fixtureServer(_ files: String..., headers: [String: String] = [:]) async throws -> LoopbackServer {
    let server = try await LoopbackServer()
    for file in files {
        let body = try TestFiles.data(file)
        server.route("/" + file) { _ in .init(headers: headers, body: body) }
    }
    return server
}
