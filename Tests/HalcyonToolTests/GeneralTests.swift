import Halcyon
import Testing

/// The responses that every command-line tool gives.
@Suite(.timeLimit(.minutes(5))) struct ToolGeneralTests {
    @Test func versionIsTheLibrarys() async throws {
        let result = try await Tool().run(["--version"])
        #expect(result.status == 0)
        #expect(result.text == HalcyonVersion.current + "\n")
    }

    @Test(arguments: [["--help"], ["-h"], [], ["help"]])
    func helpNamesTheCommands(arguments: [String]) async throws {
        let result = try await Tool().run(arguments)
        #expect(result.status == 0)
        for command in ["load", "probe", "processors", "cache", "demo", "show"] {
            #expect(result.text.contains("\n  \(command) "))
        }
    }

    @Test(arguments: [
        (
            ["load"],
            [
                "--output", "--resize", "--process", "--format", "--quality", "--max-bytes", "--ttl", "--policy",
                "--header", "--timeout", "--retries", "--cache", "--concurrency", "--passes", "--quiet", "--json",
            ]
        ),
        (
            ["show"],
            [
                "--protocol", "--width", "--height", "--columns", "--fit", "--no-captions", "--background", "--dither",
                "--still", "--loops", "--resize", "--process", "--header", "--timeout", "--retries", "--cache",
                "--concurrency",
            ]
        ),
        (["probe"], ["--json"]), (["processors"], ["--markdown"]),
        (["cache"], ["info", "show", "remove", "trim", "clear"]),
        (["cache", "trim"], ["--to", "--expired", "--cache", "--json"]),
        (["demo"], ["--gallery", "--generated", "--urls", "--output", "--concurrency"]),
    ])
    func helpNamesTheOptions(command: [String], options: [String]) async throws {
        let result = try await Tool().run(command + ["--help"])
        #expect(result.status == 0)
        for option in options { #expect(result.text.contains(option)) }
    }

    @Test(arguments: [["nothing"], ["--nothing"], ["Load"], ["demo", "--concurrency", "0"], ["demo", "extra"]])
    func wrongUsageIs64(arguments: [String]) async throws {
        let result = try await Tool().run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(!result.errors.isEmpty)
    }
}
